import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createSocket, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium, importPeer, peerProgram, PEERS_ABSENT, peersInstalled } from "../peers/peers.ts";
import { gatewayCommand, type GatewayOptions, type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type RealServer, realServers } from "./real-servers.ts";

const installed = peersInstalled();
if (!installed) process.stderr.write(`not run: servers of other people behind one gateway. ${PEERS_ABSENT}\n`);
const browser = installed ? chromium() : undefined;
if (installed && browser === undefined) process.stderr.write("not run: playwright through the gateway. No chromium\n");

const run = promisify(execFile);

/** A client of the 1.x line, as most programs still have it. */
async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: "old-client", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

/** Every tool over all pages. */
async function toolsOf(client: Client): Promise<readonly string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

/** The gateway's name of one server's tool. */
function named(names: readonly string[], server: string, tool: string): string {
  const bare = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const found = names.find((name) => bare(name) === bare(server + tool));
  if (found === undefined) throw new Error(`${server} has no ${tool} among ${names.join(", ")}`);
  return found;
}

/** What a call came to, an error of the protocol included. */
async function outcome(client: Client, name: string, input: Record<string, unknown>): Promise<unknown> {
  try {
    return await client.callTool({ name, arguments: input });
  } catch (error) {
    const { code, message } = error as { readonly code: number; readonly message: string };
    return { code, message };
  }
}

/** Moments and process ids out of what kubectl prints. */
function timeless(value: unknown): string {
  return JSON.stringify(value).replaceAll(/E\d{4} [\d:.]+ +\d+ /g, "");
}

async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address() as AddressInfo;
  socket.close();
  await once(socket, "close");
  return port;
}

/** Starts server-everything on a port of its own and waits until it says that it listens. */
async function serveEverything(transport: "sse" | "streamableHttp", port: number): Promise<ChildProcess> {
  const { file } = peerProgram("@modelcontextprotocol/server-everything");
  const child = spawn(process.execPath, [file, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  while (!text.includes(`port ${port}`)) text += String((await once(child.stderr, "data"))[0]);
  child.stderr.resume();
  return child;
}

// because other people's servers are installed apart; CI has them.
describe.skipIf(!installed)("eight servers of other people behind one gateway", () => {
  let folder: string;
  let options: GatewayOptions;
  let gateway: GatewayProcess;
  let client: Client;
  let names: readonly string[];
  let page: Server;
  const children: ChildProcess[] = [];

  /** Calls a tool through the gateway. */
  function call(server: string, tool: string, input: Record<string, unknown>): Promise<unknown> {
    return outcome(client, named(names, server, tool), input);
  }

  /** Calls the same tool of the server itself. */
  async function callDirectly(server: RealServer, tool: string, input: Record<string, unknown>): Promise<unknown> {
    const { command, args, env } = realServers(folder)[server];
    const transport = new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: "ignore" });
    const direct = await connect(transport);
    try {
      return await outcome(direct, tool, input);
    } finally {
      await direct.close();
    }
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "toolarsenal-real-"));
    mkdirSync(join(folder, "repository"));
    const [httpPort, ssePort] = [await freePort(), await freePort()];
    children.push(await serveEverything("streamableHttp", httpPort), await serveEverything("sse", ssePort));
    options = {
      mode: "static",
      servers: {
        ...realServers(folder),
        "everything-http": { type: "http", url: `http://127.0.0.1:${httpPort}/mcp` },
        "everything-sse": { type: "sse", url: `http://127.0.0.1:${ssePort}/sse` },
      },
    };
    gateway = await startGateway(options);
    client = await connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
    names = await toolsOf(client);
    page = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<title>A loopback page</title><h1>Hello</h1>");
    });
    page.listen(0, "127.0.0.1");
    await once(page, "listening");
  });

  afterAll(async () => {
    await client?.close();
    await gateway?.close();
    page?.close();
    for (const child of children) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it("connects all of them, over stdio, streamable HTTP and HTTP+SSE", async () => {
    const response = await fetch(`${gateway.url}/readyz`);
    expect(response.status).toBe(200);
    const { upstreams } = (await response.json()) as { readonly upstreams: Readonly<Record<string, string>> };
    expect(upstreams).toEqual(Object.fromEntries(Object.keys(options.servers).map((name) => [name, "connected"])));
  });

  it("lists the tools of all of them under names that any model's API takes", () => {
    const stdio = names.filter((name) => !/^everything[^a-z]*(?:http|sse)/.test(name));
    expect(stdio.length).toBeGreaterThanOrEqual(110);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
    const samples: readonly (readonly [string, string])[] = [
      ["everything", "get-sum"],
      ["memory", "read_graph"],
      ["filesystem", "list_directory"],
      ["thinking", "sequentialthinking"],
      ["git", "git_status"],
      ["kubernetes", "kubectl_get"],
      ["playwright", "browser_navigate"],
      ["context7", "query-docs"],
      ["everything-http", "get-sum"],
      ["everything-sse", "get-sum"],
    ];
    for (const [server, tool] of samples) expect(named(names, server, tool)).not.toBe("");
  });

  it.each(["everything", "everything-http", "everything-sse"])("calls %s", async (server) => {
    expect(await call(server, "echo", { message: "hello" })).toEqual({
      content: [{ type: "text", text: "Echo: hello" }],
    });
    expect(await call(server, "get-sum", { a: 2, b: 40 })).toEqual({
      content: [{ type: "text", text: "The sum of 2 and 40 is 42." }],
    });
  });

  it("calls memory, which keeps what it is told", async () => {
    const entity = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
    await call("memory", "create_entities", { entities: [entity] });
    expect(await call("memory", "read_graph", {})).toMatchObject({
      structuredContent: { entities: [entity], relations: [] },
    });
  });

  it("calls filesystem", async () => {
    const path = join(folder, "files", "notes", "note.txt");
    await call("filesystem", "create_directory", { path: join(folder, "files", "notes") });
    writeFileSync(path, "read through the gateway");
    expect(await call("filesystem", "read_text_file", { path })).toMatchObject({
      structuredContent: { content: "read through the gateway" },
    });
  });

  it("calls sequential-thinking", async () => {
    const thought = { thought: "One thing", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false };
    expect(await call("thinking", "sequentialthinking", thought)).toMatchObject({
      structuredContent: { thoughtNumber: 1, thoughtHistoryLength: 1 },
    });
  });

  it("calls git", async () => {
    const path = join(folder, "repository");
    expect(await call("git", "git_init", { path })).toMatchObject({ structuredContent: { success: true } });
    expect(await call("git", "git_status", { path })).toMatchObject({
      structuredContent: { success: true, currentBranch: "main", isClean: true },
    });
  });

  // because it needs a browser; CI has one.
  it.skipIf(browser === undefined)("calls playwright, which opens a page", async () => {
    const { port } = page.address() as AddressInfo;
    const answer = await call("playwright", "browser_navigate", { url: `http://127.0.0.1:${port}/` });
    expect(JSON.stringify(answer)).toContain("Page Title: A loopback page");
  });

  it("hands on the error of kubernetes without a cluster, unchanged", async () => {
    const input = { resourceType: "pods" };
    const answer = await call("kubernetes", "kubectl_get", input);
    expect(timeless(answer)).toBe(timeless(await callDirectly("kubernetes", "kubectl_get", input)));
    expect(timeless(answer)).toMatch(/kubectl/);
  });

  it("hands on what context7 says without a network, unchanged", async () => {
    const input = { libraryName: "react", query: "how to use effects" };
    const answer = await call("context7", "resolve-library-id", input);
    expect(answer).toMatchObject((await callDirectly("context7", "resolve-library-id", input)) as object);
    expect(JSON.stringify(answer)).toMatch(/error/i);
  });

  it("answers a client of the 1.x line over /sse", async () => {
    const old = await connect(new SSEClientTransport(new URL(`${gateway.url}/sse`)));
    try {
      expect(await toolsOf(old)).toEqual(names);
      expect(await outcome(old, named(names, "everything", "echo"), { message: "over SSE" })).toEqual({
        content: [{ type: "text", text: "Echo: over SSE" }],
      });
    } finally {
      await old.close();
    }
  });

  it("answers a client of the 1.x line over stdio", async () => {
    const { everything } = realServers(folder);
    const own = mkdtempSync(join(folder, "stdio-"));
    const { command, args } = gatewayCommand({ mode: "static", servers: { everything } }, own);
    const old = await connect(new StdioClientTransport({ command, args: [...args, "--stdio"], stderr: "ignore" }));
    try {
      const listed = await toolsOf(old);
      expect(await outcome(old, named(listed, "everything", "echo"), { message: "over stdio" })).toEqual({
        content: [{ type: "text", text: "Echo: over stdio" }],
      });
    } finally {
      await old.close();
    }
  });

  it("answers the command line of the official inspector", async () => {
    const { file } = peerProgram("@modelcontextprotocol/inspector", "mcp-inspector");
    const inspect = async (...rest: readonly string[]): Promise<unknown> => {
      const argv = [file, "--cli", `${gateway.url}/mcp`, "--transport", "http", ...rest];
      const { stdout } = await run(process.execPath, argv, { cwd: folder, env: { ...process.env, HOME: folder } });
      return JSON.parse(stdout);
    };
    const { tools } = (await inspect("--method", "tools/list")) as { readonly tools: readonly { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(names);
    const echo = named(names, "everything", "echo");
    expect(
      await inspect("--method", "tools/call", "--tool-name", echo, "--tool-arg", "message=inspected"),
    ).toMatchObject({ content: [{ type: "text", text: "Echo: inspected" }] });
  });

  it("answers @ai-sdk/mcp", async () => {
    const { createMCPClient } = await importPeer<AiSdkMcp>("@ai-sdk/mcp");
    const ai = await createMCPClient({ transport: { type: "http", url: `${gateway.url}/mcp` } });
    try {
      const tools = await ai.tools();
      expect(Object.keys(tools).toSorted()).toEqual(names.toSorted());
      const echo = tools[named(names, "everything", "echo")];
      const answer = await echo?.execute({ message: "from the AI SDK" }, { toolCallId: "1", messages: [] });
      expect(answer).toMatchObject({ content: [{ type: "text", text: "Echo: from the AI SDK" }] });
    } finally {
      await ai.close();
    }
  });

  it("answers @langchain/mcp-adapters", async () => {
    const { MultiServerMCPClient } = await importPeer<LangchainMcp>("@langchain/mcp-adapters");
    const servers = { gateway: { transport: "http", url: `${gateway.url}/mcp` } };
    const langchain = new MultiServerMCPClient({ mcpServers: servers, prefixToolNameWithServerName: false });
    try {
      const tools = await langchain.getTools();
      expect(tools.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
      const echo = tools.find(({ name }) => name === named(names, "everything", "echo"));
      expect(JSON.stringify(await echo?.invoke({ message: "from LangChain" }))).toContain("Echo: from LangChain");
    } finally {
      await langchain.close();
    }
  });
});

/** What is used of @ai-sdk/mcp. */
interface AiSdkMcp {
  createMCPClient(options: { readonly transport: { readonly type: "http"; readonly url: string } }): Promise<{
    tools(): Promise<Readonly<Record<string, { execute(input: unknown, options: object): Promise<unknown> }>>>;
    close(): Promise<void>;
  }>;
}

/** What is used of @langchain/mcp-adapters. */
interface LangchainMcp {
  readonly MultiServerMCPClient: new (options: object) => {
    getTools(): Promise<readonly { readonly name: string; invoke(input: unknown): Promise<unknown> }[]>;
    close(): Promise<void>;
  };
}
