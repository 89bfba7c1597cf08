import { afterEach, describe, expect, it } from "vitest";
import { startLegacyServer, startModernServer, type UpstreamServer } from "../../../../test/mcp/upstream-server.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { sourceContract } from "../../../testing/source.contract.ts";
import { normaliseTool } from "../../../tool/normalise/normalise-tool.ts";
import type { HandlerContext, Progress } from "../../../tool/handler.ts";
import type { McpRequestParts } from "../../../mcp/connection.ts";
import { mcpSource, type McpParts, type McpSource } from "./mcp.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import { rawToolOf } from "./upstream/server-tool.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

async function started(start: (port?: number) => Promise<UpstreamServer>, port?: number): Promise<UpstreamServer> {
  const server = await start(port);
  cleanups.push(() => server.close().catch(() => {}));
  return server;
}

function sourceOf({ url }: { readonly url: string }, parts: McpParts = {}): McpSource {
  const source = mcpSource({ name: "Sample Server", transport: { kind: "http", url } }, parts);
  cleanups.push(() => source.disconnect());
  return source;
}

const { signal } = new AbortController();

/** No telemetry on the test's output. */
const QUIET = { telemetry: { enabled: false } } as const;

describe("the source contract", () => {
  for (const { name, run } of sourceContract(async () => ({ adapter: sourceOf(await started(startModernServer)) })))
    it(name, run);
});

/** Calls one of a source's tools as the arsenal does. */
async function call(
  source: McpSource,
  name: string,
  args: JsonObject,
  request?: McpRequestParts,
  told?: Progress[],
): Promise<unknown> {
  await source.connect({ signal });
  const offered = (await source.list({ signal })).find(({ draft }) => draft.name === name);
  if (offered === undefined) throw new Error(`no tool ${name}`);
  const given: HandlerContext = {
    auxdata: {},
    ...(request !== undefined && { request: { source: "mcp", ...request } }),
    tool: normaliseTool(offered.draft, { source: "mcp", namespace: "sample" }),
    state: new Map(),
    signal,
    traceId: "t",
    spanId: "s",
    attempt: 1,
    progress: (update) => void told?.push(update),
  };
  return offered.handler(args, given);
}

describe("a server's tools", () => {
  it.each([
    [
      { transport: { kind: "http", url: "https://+]" } },
      "transport.url",
      "Write an address that starts with http:// or https://.",
    ],
    [{ transport: { kind: "stdio" } }, "transport.command", "Write command: with the program that runs the server."],
    [{ transport: { kind: "htttp" } }, "transport.kind", "Use one of stdio, http, sse, websocket."],
    [{}, "command", "Write command: for a program, or url: for an address."],
  ])("are refused if the server is %j, with the field and the fix", async (written, field, fix) => {
    await using arsenal = new ToolArsenal();
    await expect(arsenal.addMcpServer({ name: "files", ...written } as never)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${field} of the MCP server "files"`),
      details: { field, fix },
    });
  });

  it("are offered under their own names with everything the server says [002-mcp-register] [003-adapter-mcp]", async () => {
    const server = await started(startModernServer);
    const raw = {
      name: "Do.It",
      title: "Do it",
      description: "Does it, whatever it is.",
      inputSchema: { properties: { a: { type: "string" } } },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true, title: "ignored" },
      icons: [{ src: "data:," }],
      _meta: { "a/b": 1 },
    };
    server.pages = [[raw, { name: "bare", inputSchema: null }]];
    const source = sourceOf(server);
    await source.connect({ signal });
    const [tool, bare] = (await source.list({ signal })).map(({ draft }) =>
      normaliseTool(draft, { source: "mcp", namespace: "x" }),
    );
    expect(tool).toMatchObject({
      id: "sample-server.do_it",
      sourceName: "Do.It",
      sourceUri: server.url,
      title: "Do it",
      parameters: { type: "object", properties: { a: { type: "string" } } },
      returns: { type: "object" },
      annotations: { readOnly: true, confirmed: false },
    });
    expect(tool && rawToolOf(tool)).toEqual(raw);
    expect(bare?.name).toBe("bare");
  });

  it("are in the server's namespace, need what its transport implies, and are believed only where told so", () => {
    const stdio = { kind: "stdio", command: "node" } as const;
    const connect = (): Promise<never> => new Promise(() => {});
    const http = mcpSource({ name: "a", transport: { kind: "http", url: "http://127.0.0.1:1" } }, { connect });
    const program = mcpSource({ name: "b", namespace: "tools", transport: stdio, trustAnnotations: true }, { connect });
    expect([http.namespaces, http.capabilities, http.trustsAnnotations]).toEqual([["a"], ["network_access"], false]);
    expect([program.namespaces, program.capabilities, program.trustsAnnotations]).toEqual([
      ["tools"],
      ["file_system", "network_access"],
      true,
    ]);
    return Promise.all([http.disconnect(), program.disconnect()]);
  });

  it("come with what the server says of itself, once it was listed", async () => {
    const server = await started(startLegacyServer);
    const source = sourceOf(server);
    expect(source.instructions?.()).toBeUndefined();
    await source.connect({ signal });
    await source.list({ signal });
    expect(source.instructions?.()).toBe("Be kind.");
  });

  it("are called by their original names and answer with the server's whole result [000-7.1-call] [000-5.4-mcp]", async () => {
    const server = await started(startLegacyServer);
    server.pages = [[{ name: "Echo.It", inputSchema: {} }]];
    const context = {
      extra: { _meta: { mine: 1 } },
      onNotification: () => {},
    };
    const result = await call(sourceOf(server), "Echo.It", { text: "hi" }, context);
    expect(result).toMatchObject({ structuredContent: { text: "hi" }, unheardOf: { kept: [1, null] } });
    expect(server.requests.at(-1)?.body["params"]).toEqual({
      name: "Echo.It",
      arguments: { text: "hi" },
      _meta: { mine: 1 },
    });
  });

  it("that report an error fail with the server's words [002-mcp-error]", async () => {
    const calling = call(sourceOf(await started(startModernServer)), "fail", {});
    await expect(calling).rejects.toMatchObject({
      code: "EXECUTION_FAILED",
      message: "It did not work.",
      details: { answered: true },
      cause: { isError: true },
    });
  });

  it("whose question nobody answers fail with the server's error and its code", async () => {
    const calling = call(sourceOf(await started(startLegacyServer)), "ask", {});
    await expect(calling).rejects.toMatchObject({
      code: "PROTOCOL_ERROR",
      message: expect.stringContaining("error -32601"),
    });
  });

  it("tell their progress to the arsenal", async () => {
    const told: Progress[] = [];
    await call(sourceOf(await started(startModernServer)), "report", { text: "half" }, undefined, told);
    expect(told).toEqual([{ progress: 1, total: 2, message: "half" }]);
  });

  it("get the marked arguments as HTTP headers too", async () => {
    const server = await started(startModernServer);
    const inputSchema = { type: "object", properties: { text: { type: "string", "x-mcp-header": "Text" } } };
    server.pages = [[{ name: "echo", inputSchema }]];
    await call(sourceOf(server), "echo", { text: "Grüße" });
    expect(server.requests.at(-1)?.headers).toMatchObject({
      "mcp-name": "echo",
      "mcp-param-text": "=?base64?R3LDvMOfZQ==?=",
    });
  });
});

describe("a server that is not there", () => {
  const away = async (): Promise<UpstreamServer> => {
    const server = await startModernServer();
    await server.close();
    return server;
  };

  it("fails to connect, saying which it is and why", async () => {
    const connecting = sourceOf(await away()).connect({ signal });
    await expect(connecting).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: expect.stringContaining('"Sample Server"'),
    });
  });

  it("brings its tools when it comes, where one is patient [001-ensemble-mcp]", async () => {
    const clock = createManualClock();
    const gone = await away();
    const events: unknown[] = [];
    const emit = (name: string, data: object): void => void events.push([name, data]);
    const source = sourceOf(gone, { patient: true, clock, random: () => 0, emit: emit as never });
    await source.connect({ signal });
    expect(await source.list({ signal })).toEqual([]);
    await source.upstream.attempted;

    await started(startModernServer, gone.port);
    const changed = new Promise<void>((resolve) => void source.watch?.(resolve));
    await clock.advance(500);
    await changed;
    expect(await source.list({ signal })).toHaveLength(5);
    expect(events).toEqual([
      ["ensemble-failed", { ensemble: "Sample Server", message: expect.stringContaining("cannot be connected") }],
      ["ensemble-connected", { ensemble: "Sample Server", tools: 5 }],
    ]);
  });

  it("keeps its tools registered, and calls say that it is away [002-mcp-not-connected]", async () => {
    const server = await started(startLegacyServer);
    const arsenal = new ToolArsenal({ ...QUIET, execution: { maxRetries: 1 } });
    cleanups.push(() => arsenal.close());
    const source = sourceOf(server);
    await arsenal.add(source);
    const calling = { toolName: "sample-server.echo", arguments: { text: "hi" } };
    expect(await arsenal.execute(calling)).toMatchObject({ status: "success" });
    await server.close();
    // A connection that was kept alive breaks under the first call; the next shows that nobody listens.
    while (source.upstream.state.kind === "connected") await arsenal.execute(calling);
    const result = await arsenal.execute(calling);
    expect(result).toMatchObject({
      error: { code: "SOURCE_UNAVAILABLE", message: expect.stringContaining("is unavailable") },
    });
    expect(arsenal.toolCount).toBe(5);
  });
});
