import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PROGRAM } from "../../src/cli/program.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { MAIN } from "../kit/program.ts";
import { type Ran, runInMemory } from "./terminal.ts";

/** A server over standard streams whose one tool deletes. It says how often it ran. */
const NOTES = `
import { createInterface } from "node:readline";
let deleted = 0;
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "delete_note", description: "Deletes a note.", inputSchema: { type: "object", properties: { id: { type: "number" } } } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "deleted " + ++deleted }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method] ? { result: answers[method](params ?? {}) } : { error: { code: -32601, message: "no" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;

interface Call {
  readonly name: "execute_tool";
  readonly arguments: { readonly tool_name: string; readonly arguments: Record<string, unknown> };
}

/** The model's call, through the meta-tool that a client sees by default. */
const DELETE: Call = {
  name: "execute_tool",
  arguments: { tool_name: "notes.delete_note", arguments: { id: 7 } },
};

let home: string;
let folder: string;
let elsewhere: string;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "arsenal-home-"));
  folder = join(home, "project");
  elsewhere = join(home, "elsewhere");
  await Promise.all([mkdir(folder), mkdir(elsewhere)]);
  await writeFile(join(folder, "notes.mjs"), NOTES);
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await rm(home, { recursive: true });
});

function configure(more = ""): Promise<void> {
  const servers = { notes: { command: process.execPath, args: [join(folder, "notes.mjs")] } };
  return writeFile(join(folder, "arsenal.yaml"), `mcpServers: ${JSON.stringify(servers)}\n${more}`);
}

const environment = (): Record<string, string> => ({
  HOME: home,
  PATH: process.env["PATH"] ?? "",
  TOOLARSENAL_TIER: "lexical",
});

interface Served {
  readonly url: string;
  /** Resolves once it has told the people at its terminal. */
  told(text: string): Promise<void>;
}

/** `toolarsenal serve`, as a newcomer starts it. */
async function serve(): Promise<Served> {
  const stop = new AbortController();
  let said = "";
  const looks = new Set<() => void>();
  const printed = Promise.withResolvers<string>();
  const ended = runCli(["serve", "--port", "0"], {
    out: { write: () => {} },
    err: {
      write(part: string) {
        said += part;
        for (const look of looks) look();
        const [, url] = /Serving MCP at (http:\/\/127\.0\.0\.1:\d+)\/mcp/.exec(said) ?? [];
        if (url !== undefined) printed.resolve(url);
      },
    },
    folder,
    environment: environment(),
    signal: stop.signal,
  });
  closers.push(() => (stop.abort(), ended));
  const url = await Promise.race([printed.promise, ended.then((code) => Promise.reject(new Error(`${code} ${said}`)))]);
  for (;;) {
    const response = await fetch(`${url}/readyz`);
    await response.body?.cancel();
    if (response.status === 200) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return {
    url,
    told: (text) =>
      new Promise((resolve) => {
        const look = (): void => void (said.includes(text) && resolve());
        looks.add(look);
        look();
      }),
  };
}

async function connect(url: string, more: ConstructorParameters<typeof Client>[1] = {}, token = ""): Promise<Client> {
  const client = new Client({ name: "client", version: "1.0.0" }, more);
  const requestInit = token === "" ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  closers.push(() => client.close());
  return client;
}

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? "";

/** Makes the call, which must wait. Returns the approval's id and what the model reads. */
async function waits(client: Client, call = DELETE): Promise<{ readonly id: string; readonly text: string }> {
  const result = await client.callTool(call);
  const error = (result._meta?.["toolarsenal/error"] ?? {}) as Record<string, string>;
  expect(error).toMatchObject({ status: "pending_confirmation" });
  return { id: error["confirmationId"] ?? "", text: textOf(result) };
}

/** `toolarsenal approvals …` in another terminal. */
const approvals = (argv: readonly string[], place = elsewhere): Promise<Ran> =>
  runInMemory(["approvals", ...argv], { folder: place, environment: environment() });

async function overHttp(url: string, path = "", init: RequestInit = {}): Promise<readonly [number, unknown]> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/api/v1/approvals${path}`, { headers, ...init });
  return [response.status, await response.json()];
}

describe("a person at this machine, without any configuration of approvals,", () => {
  it("approves on the command line what the pending call names, from any folder", async () => {
    await configure();
    const { url, told } = await serve();
    const client = await connect(url);
    const { id, text } = await waits(client);
    expect(text).toContain(`The user approves with: ${PROGRAM} approvals approve ${id}\n`);
    expect(text).not.toMatch(/as confirmationId/);
    expect(text).toContain("make exactly the same call again");
    const command = `${PROGRAM} approvals approve ${id}\n`;
    await told(`notes.delete_note waits for approval (asked by local). Approve it with: ${command}`);

    const listed = await approvals(["list"]);
    expect([listed.code, listed.out]).toEqual([0, expect.stringContaining(`${id}  pending  notes.delete_note`)]);
    expect(await approvals(["approve", id])).toMatchObject({ code: 0, err: expect.stringContaining("approved") });
    expect(textOf(await client.callTool(DELETE))).toBe("deleted 1");
    expect((await waits(client)).id).not.toBe(id);
  });

  it("denies on the command line", async () => {
    await configure();
    const client = await connect((await serve()).url);
    const { id } = await waits(client);
    expect((await approvals(["deny", id])).code).toBe(0);
    expect((await waits(client)).id).not.toBe(id);
  });

  it("approves over HTTP", async () => {
    await configure();
    const { url } = await serve();
    const client = await connect(url);
    const { id } = await waits(client);
    expect(await overHttp(url)).toEqual([200, { approvals: [expect.objectContaining({ id, state: "pending" })] }]);
    const approved = await overHttp(url, `/${id}/approve`, { method: "POST", body: "{}" });
    expect(approved).toEqual([200, { id, outcome: "approved" }]);
    expect(textOf(await client.callTool(DELETE))).toBe("deleted 1");
  });

  it("approves in a client that can ask", async () => {
    await configure();
    const client = await connect((await serve()).url, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { approve: true } }));
    expect(textOf(await client.callTool(DELETE))).toBe("deleted 1");
  });

  it("approves the demo catalog's calls, with no configuration at all", async () => {
    const call: Call = {
      name: "execute_tool",
      arguments: { tool_name: "delete_customer", arguments: { customer_id: "c1" } },
    };
    const client = await connect((await serve()).url);
    const { id } = await waits(client, call);
    expect((await approvals(["approve", id])).code).toBe(0);
    expect((await client.callTool(call)).isError).not.toBe(true);
  });

  it("approves what a client asks that started the gateway over standard streams", async () => {
    await configure();
    const args = [MAIN, "serve", "--stdio", "--config", join(folder, "arsenal.yaml")];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      env: environment(),
      cwd: elsewhere,
      stderr: "ignore",
    });
    const client = new Client({ name: "client", version: "1.0.0" });
    await client.connect(transport);
    closers.push(() => client.close());
    await untilListed(client);
    const { id } = await waits(client);
    expect((await approvals(["approve", id])).code).toBe(0);
    expect(textOf(await client.callTool(DELETE))).toBe("deleted 1");
  });

  it("approves what `call` asked for in another process", async () => {
    await configure();
    const call = (...more: string[]): Promise<Ran> =>
      runInMemory(["call", "notes.delete_note", "--args", '{"id":7}', ...more], { folder, environment: environment() });
    const asked = await call();
    const [, id = ""] = /approvals approve ([0-9a-f]{32})/.exec(asked.err) ?? [];
    expect(asked.code).toBe(1);
    expect((await approvals(["approve", id])).code).toBe(0);
    expect(await call()).toMatchObject({ code: 0, out: expect.stringContaining("deleted 1") });
    expect((await call()).code).toBe(1);
    expect(await call("--approve")).toMatchObject({ code: 0, out: expect.stringContaining("deleted 1") });
  });
});

describe("the security of that", () => {
  it("keeps the file of approvals to its owner, and writes none before a call waits", async () => {
    await configure();
    const client = await connect((await serve()).url);
    const kept = join(home, ".toolarsenal");
    expect(existsSync(kept)).toBe(false);
    await waits(client);
    expect((await readdir(join(kept, "approvals"))).filter((name) => name.endsWith(".sqlite"))).toHaveLength(1);
  });

  it("refuses the caller's own approval with self_approval: never, on every channel", async () => {
    await configure("security: { self_approval: never }\n");
    const { url } = await serve();
    const client = await connect(url, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { approve: true } }));
    const { id } = await waits(client);
    expect(await overHttp(url)).toEqual([200, { approvals: [] }]);
    expect((await overHttp(url, `/${id}/approve`, { method: "POST", body: "{}" }))[0]).toBe(403);
    const refused = await approvals(["approve", id]);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("cannot approve its own call")]);
    await waits(client);
  });

  it("does not let a caller with a token approve its own call, nor tells it a path of this machine", async () => {
    await configure("server: { tokens: { agent: a-token-of-its-own-for-agents } }\nstate: { file: ./state.sqlite }\n");
    const { url } = await serve();
    const client = await connect(url, {}, "a-token-of-its-own-for-agents");
    const { id, text } = await waits(client);
    expect(text).not.toContain(folder);
    expect((await overHttp(url))[0]).toBe(401);
    expect((await approvals(["approve", id], folder)).code).toBe(0);
    expect(textOf(await client.callTool(DELETE))).toBe("deleted 1");
  });

  it("keeps approvals of two gateways apart, whose tools are alike", async () => {
    await configure();
    const first = await connect((await serve()).url);
    const { id } = await waits(first);
    expect((await approvals(["approve", id])).code).toBe(0);
    await configure("execution: { max_concurrent: 3 }\n");
    const { url } = await serve();
    const second = await connect(url);
    expect((await waits(second)).id).not.toBe(id);
    expect(await overHttp(url)).toMatchObject([200, { approvals: [{ state: "pending" }] }]);
  });

  it("names the configuration where the state has a file of its own", async () => {
    await configure("state: { file: ./state.sqlite }\n");
    const client = await connect((await serve()).url);
    const { id, text } = await waits(client);
    const config = join(folder, "arsenal.yaml");
    expect(text).toContain(`approvals approve --config ${config} ${id}`);
    expect((await approvals(["approve", "--config", config, id])).code).toBe(0);
    expect(existsSync(join(home, ".toolarsenal"))).toBe(false);
  });

  it("keeps nothing on disk with state.file: ':memory:', and answers over HTTP", async () => {
    await configure('state: { file: ":memory:" }\n');
    const { url } = await serve();
    const client = await connect(url);
    const { id, text } = await waits(client);
    expect(text).toContain(id);
    expect(text).not.toContain("approvals approve");
    expect(await approvals(["list"], folder)).toMatchObject({ code: 2, err: expect.stringContaining("in memory") });
    expect((await overHttp(url, `/${id}/approve`, { method: "POST", body: "{}" }))[0]).toBe(200);
    expect(textOf(await client.callTool(DELETE))).toBe("deleted 1");
    expect(await readdir(home)).toEqual(["elsewhere", "project"]);
  });
});

/** Until the gateway's own server has connected. */
async function untilListed(client: Client): Promise<void> {
  for (;;) {
    const { _meta } = await client.callTool(DELETE);
    if (JSON.stringify(_meta ?? {}).includes("pending_confirmation")) return;
  }
}
