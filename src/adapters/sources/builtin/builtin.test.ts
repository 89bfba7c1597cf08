import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../../arsenal.ts";
import type { ToolResult } from "../../../execute/result.ts";
import { createEgress } from "../../../guard/egress/egress.ts";
import { sourceContract } from "../../../testing/source.contract.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { builtinSource } from "./builtin.ts";
import type { BuiltinParts, BuiltinSettings } from "./settings.ts";

let folder = "";
const ends: (() => unknown)[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "builtin-")));
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  rmSync(folder, { recursive: true, force: true });
});

type Call = (toolName: string, args: Record<string, unknown>) => Promise<ToolResult>;

async function start(settings: BuiltinSettings = {}, parts: BuiltinParts = {}): Promise<Call> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  ends.push(() => arsenal.close());
  await arsenal.add(builtinSource({ files: { roots: [folder] }, ...settings }, parts));
  return (name, args) => arsenal.execute({ toolName: `builtin.${name}`, arguments: args });
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Lets requests reach this machine, where the test's servers are. */
function localEgress(): NonNullable<BuiltinParts["egress"]> {
  const egress = createEgress({ allowPrivate: true });
  ends.push(() => egress.close());
  return egress;
}

describe("builtins [002-skills-auto]", () => {
  for (const { name, run } of sourceContract(() => ({ adapter: builtinSource() }))) it(name, run);

  it("are the seed's tools, with its spelling as the source's name, its risks and the capabilities they need", async () => {
    const offered = await builtinSource().list({ signal: new AbortController().signal });
    expect(offered.map(({ draft }) => [draft.name, draft.sourceName, draft.riskLevel, draft.capabilities])).toEqual([
      ["web_search", "web-search", "low", ["network_access", "external_api"]],
      ["file_read", "file-read", "medium", ["file_system", "read_data"]],
      ["file_write", "file-write", "high", ["file_system", "write_data"]],
      ["http_get", "http-get", "medium", ["network_access"]],
      ["code_execute", "code-execute", "high", ["execute_code"]],
    ]);
  });

  it("vouch for what they do to the world: three only read, and a call to the other two is not repeated", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    await arsenal.add(builtinSource());
    const tools = await arsenal.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations.readOnly, annotations.confirmed])).toEqual([
      ["code_execute", false, true],
      ["file_read", true, true],
      ["file_write", false, true],
      ["http_get", true, true],
      ["web_search", true, true],
    ]);
    expect(tools.filter(({ annotations }) => annotations.idempotent === true).map(({ name }) => name)).toEqual([
      "file_read",
      "http_get",
    ]);
  });

  it("are those that are named", async () => {
    const source = builtinSource({ tools: ["http-get", "file-read", "http-get"] });
    const offered = await source.list({ signal: new AbortController().signal });
    expect(offered.map(({ draft }) => draft.name)).toEqual(["http_get", "file_read"]);
    expect(() => builtinSource({ tools: ["file-delete" as "file-read"] })).toThrow(
      '"file-delete" is not a built-in tool. Use some of web-search, file-read, file-write, http-get, code-execute.',
    );
  });
});

describe("file_read and file_write [002-skills-file-read] [002-skills-file-write]", () => {
  it("write a file and read it", async () => {
    const call = await start();
    expect(await call("file_write", { path: "out/a.txt", content: "grüße" })).toMatchObject({
      status: "success",
      result: { path: "out/a.txt", bytes: 7, created: true },
    });
    expect(await call("file_read", { path: "out/a.txt" })).toMatchObject({
      result: { path: "out/a.txt", content: "grüße", encoding: "utf-8", bytes: 7 },
    });
  });

  it("give and take bytes as base64, and what is no text always so", async () => {
    const call = await start();
    await call("file_write", { path: "a.bin", content: "/wD+", encoding: "base64" });
    expect([...readFileSync(join(folder, "a.bin"))]).toEqual([255, 0, 254]);
    expect(await call("file_read", { path: "a.bin" })).toMatchObject({
      result: { content: "/wD+", encoding: "base64", bytes: 3 },
    });
    writeFileSync(join(folder, "a.txt"), "hi");
    expect(await call("file_read", { path: "a.txt", encoding: "base64" })).toMatchObject({
      result: { content: "aGk=", encoding: "base64" },
    });
    expect(await call("file_write", { path: "b.bin", content: "no base64!", encoding: "base64" })).toMatchObject({
      error: { code: "ARGUMENTS_INVALID" },
    });
  });

  it("stay in their folders and below their size", async () => {
    const call = await start({ files: { roots: [folder], maxBytes: 10 } });
    expect(await call("file_read", { path: "/etc/passwd" })).toMatchObject({ status: "permission_denied" });
    expect(await call("file_write", { path: "../x", content: "" })).toMatchObject({ status: "permission_denied" });
    expect(await call("file_write", { path: "x", content: "x".repeat(11) })).toMatchObject({ status: "failure" });
  });

  it("use the folder the program was started in where none is named", async () => {
    const call = await start({ files: {} });
    expect(await call("file_read", { path: "package.json" })).toMatchObject({ status: "success" });
    expect(await call("file_read", { path: join(folder, "x") })).toMatchObject({ status: "permission_denied" });
  });
});

describe("http_get [002-skills-http-get]", () => {
  it("fetches what is at an address, whatever the status", async () => {
    const url = await serve((request, response) =>
      response.writeHead(404, { "content-type": "text/plain" }).end(`no ${request.url}`),
    );
    const call = await start({}, { egress: localEgress() });
    expect(await call("http_get", { url: `${url}/thing` })).toMatchObject({
      result: { status: 404, url: `${url}/thing`, contentType: "text/plain", content: "no /thing", encoding: "utf-8" },
    });
  });

  it("reaches neither this machine, nor other schemes, nor domains that are not allowed", async () => {
    let requests = 0;
    const url = await serve((_request, response) => response.end(String(requests++)));
    const call = await start();
    for (const bad of [url, "file:///etc/passwd"])
      expect(await call("http_get", { url: bad })).toMatchObject({ status: "permission_denied" });
    const narrow = await start({ http: { allowedDomains: ["example.com"] } }, { egress: localEgress() });
    expect(await narrow("http_get", { url })).toMatchObject({ status: "permission_denied" });
    expect(requests).toBe(0);
  });

  it("gives up on an answer that is too long", async () => {
    const url = await serve((_request, response) => response.end("x".repeat(2_000)));
    const call = await start({ http: { maxBytes: 1_000 } }, { egress: localEgress() });
    expect(await call("http_get", { url })).toMatchObject({
      error: {
        code: "PROTOCOL_ERROR",
        message: "The answer is longer than 1000 bytes. Ask for less, or raise the limit.",
      },
    });
  });
});

describe("web_search [002-skills-web-search]", () => {
  const key = "tvly-1234567890";

  /** Answers as the Tavily API does. */
  async function tavily(): Promise<{ readonly url: string; readonly seen: unknown[] }> {
    const seen: unknown[] = [];
    const url = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const { authorization } = request.headers;
      seen.push([request.method, request.url, authorization, JSON.parse(body)]);
      response.setHeader("content-type", "application/json");
      if (authorization !== `Bearer ${key}`) {
        response.statusCode = 401;
        response.end(JSON.stringify({ detail: { error: `Unauthorized: invalid API key ${authorization}.` } }));
      } else if (body.includes("too often")) {
        response.writeHead(429, { "retry-after": "1" });
        response.end(JSON.stringify({ detail: { error: "Too many requests." } }));
      } else {
        const hit = { title: "Node", url: "https://nodejs.org", content: "Node.js 24", score: 0.9, raw_content: null };
        response.end(JSON.stringify({ query: "node", answer: null, images: [], results: [hit], response_time: 0.1 }));
      }
    });
    return { url, seen };
  }

  it("sends the query with the key, which is looked up with each call", async () => {
    const { url, seen } = await tavily();
    const environment: Record<string, string> = {};
    const call = await start({ webSearch: { url } }, { secrets: createSecrets({ environment }) });
    expect(await call("web_search", { query: "node" })).toMatchObject({
      error: { code: "CONFIG_INVALID", message: expect.stringContaining("TAVILY_API_KEY") },
    });
    environment["TAVILY_API_KEY"] = key;
    expect(await call("web_search", { query: "node", maxResults: 3 })).toMatchObject({
      result: { results: [{ title: "Node", url: "https://nodejs.org", content: "Node.js 24", score: 0.9 }] },
    });
    await call("web_search", { query: "node" });
    expect(seen).toEqual([
      ["POST", "/search", `Bearer ${key}`, { query: "node", max_results: 3 }],
      ["POST", "/search", `Bearer ${key}`, { query: "node", max_results: 5 }],
    ]);
  });

  it("says why a search was refused, without the key", async () => {
    const { url } = await tavily();
    const secrets = createSecrets({ environment: { WRONG: "tvly-wrong-key", RIGHT: key } });
    const wrong = await start({ webSearch: { url, apiKey: "env:WRONG" } }, { secrets });
    const { error } = await wrong("web_search", { query: "node" });
    expect(error).toMatchObject({ code: "EXECUTION_FAILED", message: expect.stringContaining("status 401") });
    expect(error?.message).not.toContain("tvly-wrong-key");
    const right = await start({ webSearch: { url, apiKey: "env:RIGHT" } }, { secrets });
    expect((await right("web_search", { query: "too often" })).error).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: 1_000,
    });
  });

  it("refuses a key that is written out instead of referred to", async () => {
    const call = await start({ webSearch: { apiKey: key as `env:${string}` } });
    const { error } = await call("web_search", { query: "node" });
    expect(error?.code).toBe("CONFIG_INVALID");
    expect(error?.message).not.toContain(key);
  });

  it("leads no key to another server", async () => {
    const seen: unknown[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end("{}");
    });
    const url = await serve((_request, response) => response.writeHead(307, { location: `${other}/search` }).end());
    const call = await start(
      { webSearch: { url } },
      { secrets: createSecrets({ environment: { TAVILY_API_KEY: key } }) },
    );
    expect(await call("web_search", { query: "node" })).toMatchObject({ status: "failure" });
    expect(seen).toEqual([]);
  });
});

describe("code_execute [002-skills-code-execute]", () => {
  it("returns what code returns and prints", async () => {
    const call = await start();
    const code = "console.log('adding'); return input.a + input.b;";
    expect(await call("code_execute", { code, input: { a: 1, b: 2 } })).toMatchObject({
      result: { result: 3, stdout: "adding\n", stderr: "" },
    });
  });

  it("tells the code's own error and what it had printed", async () => {
    const call = await start();
    const { error } = await call("code_execute", { code: "console.log('so far'); null.x;" });
    expect(error?.code).toBe("EXECUTION_FAILED");
    expect(error?.message).toMatch(/^TypeError: .*\nIt had printed:\nso far\n$/);
  });

  it("runs in an isolate unless told otherwise, within its limits", async () => {
    const call = await start({ code: { limits: { cpuMs: 100 } } });
    expect((await call("code_execute", { code: "return typeof process;" })).result).toMatchObject({
      result: "undefined",
    });
    expect((await call("code_execute", { code: "for (;;);" })).error).toMatchObject({ code: "SANDBOX_FAILED" });
  });
});
