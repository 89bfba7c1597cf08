import { AsyncLocalStorage } from "node:async_hooks";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { type Context, context, createTraceState, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { type OtlpCollector, startCollector } from "../doubles/otlp-collector.ts";
import { modern } from "../mcp/sample-endpoint.ts";
import { listenAs } from "./era-server.ts";
import { documentOf, type EchoServer, startEcho } from "./openapi-echo.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const tracestate = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE";

/** What the servers behind the gateway were told. */
interface Told {
  readonly traceparent: unknown;
  readonly tracestate: unknown;
}

let collector: OtlpCollector;
let api: EchoServer;
let url: string;
let arsenal: ToolArsenal;
let metas: Told[];
beforeEach(async () => {
  metas = [];
  collector = await startCollector();
  api = await startEcho();
  const server = await listenAs("modern", () => {
    const weather = new McpServer({ name: "weather", version: "1.0.0" });
    weather.registerTool("forecast", { description: "Gets the weather forecast." }, async ({ mcpReq }) => {
      const { _meta: meta = {} } = mcpReq;
      metas.push({ traceparent: meta["traceparent"], tracestate: meta["tracestate"] });
      return { content: [{ type: "text", text: "sunny" }] };
    });
    return weather;
  });
  arsenal = new ToolArsenal({
    telemetry: { type: "opentelemetry", otlp: { endpoint: collector.url, metrics: false } },
    security: { pins: "off" },
    embedder: { tier: "lexical" },
    environment: {},
  });
  await arsenal.addMcpServer({ name: "weather", transport: { kind: "http", url: server.url } });
  const getPet = { operationId: "getPet", responses: { 200: { description: "ok" } } };
  await arsenal.add({
    type: "openapi",
    name: "pets",
    document: documentOf({ "/pets": { get: getPet } }),
    server: api.url,
  });
  const served = await arsenal.serve({ port: 0, mode: "static" });
  url = String(served.url);
  closers.push(collector.close, api.close, server.close, () => arsenal.close(), served.close);
});

const post = (path: string, body: object, headers: Readonly<Record<string, string>>): Promise<string> =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body),
  }).then((answer) => answer.text());

/** Ways into the gateway that lead to the tool of the MCP server. */
const WAYS: Readonly<Record<string, (headers: Readonly<Record<string, string>>) => Promise<unknown>>> = {
  REST: (headers) => post("/api/v1/execute", { toolName: "weather.forecast" }, headers),
  "a batch over REST": (headers) => post("/api/v1/batch", { calls: [{ toolName: "weather.forecast" }] }, headers),
  "MCP over HTTP": (headers) =>
    post("/mcp", modern(1, "tools/call", { name: "weather-forecast", arguments: {} }), {
      ...headers,
      "mcp-method": "tools/call",
      "mcp-name": "weather-forecast",
      "mcp-protocol-version": "2026-07-28",
    }),
  "_meta of MCP": async (meta) => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    await client.callTool({ name: "weather-forecast", _meta: { ...meta } });
    await client.close();
  },
  A2A: (headers) =>
    post(
      "/a2a/v1/message:send",
      {
        message: {
          messageId: "m1",
          role: "ROLE_USER",
          parts: [{ data: { tool: "weather.forecast", arguments: {} } }],
        },
      },
      { ...headers, "a2a-version": "1.0" },
    ),
};

describe("tracestate", () => {
  it.each(Object.keys(WAYS))("comes in by %s and goes on to the MCP server, and spans have it", async (way) => {
    await WAYS[way]?.({ traceparent, tracestate });
    expect(metas).toEqual([{ traceparent: expect.stringContaining(traceId), tracestate }]);
    await arsenal.close();
    const called = collector.spans().filter(({ name }) => name === "execute_tool forecast");
    expect(called).toMatchObject([{ traceState: tracestate }]);
    expect(collector.spans().find(({ name }) => name === "tools/call forecast")).toMatchObject({
      traceState: tracestate,
    });
  });

  it.each(Object.keys(WAYS))("that is invalid is dropped by %s, and the trace goes on", async (way) => {
    await WAYS[way]?.({ traceparent, tracestate: "rojo=1,NOT VALID" });
    expect(metas).toEqual([{ traceparent: expect.stringContaining(traceId), tracestate: undefined }]);
  });

  it.each(Object.keys(WAYS))("without a valid traceparent is dropped by %s", async (way) => {
    await WAYS[way]?.({ traceparent: "00-1-2-3", tracestate });
    expect(metas).toEqual([{ traceparent: expect.not.stringContaining(traceId), tracestate: undefined }]);
  });

  it("goes to APIs and to MCP servers over HTTP as a header", async () => {
    await post("/api/v1/execute", { toolName: "pets.get_pet" }, { traceparent, tracestate });
    expect(api.sent.at(-1)?.headers).toMatchObject({ tracestate });
    await post("/api/v1/execute", { toolName: "pets.get_pet" }, { traceparent, tracestate: "=" });
    expect(api.sent.at(-1)?.headers).not.toHaveProperty("tracestate");
  });

  it("of a call that names a trace of its own is not that of the request", async () => {
    const own = { toolName: "pets.get_pet", traceId: "c".repeat(32) };
    await post("/api/v1/execute", own, { traceparent, tracestate });
    expect(api.sent.at(-1)?.headers["traceparent"]).toContain("c".repeat(32));
    expect(api.sent.at(-1)?.headers).not.toHaveProperty("tracestate");
  });

  it("goes on to another arsenal over A2A, and from there to its API", async () => {
    await using front = new ToolArsenal({ security: { pins: "off" }, embedder: { tier: "lexical" } });
    await front.addA2aAgent({ name: "back", url });
    const { status } = await front.execute({
      toolName: "back.a2a_back_pets_get_pet",
      traceId,
      parentSpanId: "b7ad6b7169203331",
      tracestate,
    });
    expect(status).toBe("success");
    expect(api.sent.at(-1)?.headers).toMatchObject({ traceparent: expect.stringContaining(traceId), tracestate });
  });

  it("reaches a handler, which may send it on", async () => {
    let told: unknown;
    arsenal.register({ name: "look", description: "Looks." }, (_args, { tracestate: state, beginRequest }) => {
      told = [state, beginRequest?.().tracestate];
    });
    await arsenal.execute({ toolName: "look", traceId, tracestate });
    expect(told).toEqual([tracestate, tracestate]);
    await arsenal.execute({ toolName: "look", traceId, tracestate: "x\r\ny" });
    expect(told).toEqual([undefined, undefined]);
  });
});

describe("tracestate of an application with a tracer provider", () => {
  const storage = new AsyncLocalStorage<Context>();
  const parents: (string | undefined)[] = [];
  beforeEach(() => {
    parents.length = 0;
    context.setGlobalContextManager({
      active: () => storage.getStore() ?? ROOT_CONTEXT,
      with: (active, run, self, ...args) => storage.run(active, () => run.apply(self as never, args)),
      bind: (_active, target) => target,
      enable: () => undefined as never,
      disable: () => undefined as never,
    });
    const startSpan = (_name: string, _options: unknown, within: Context): unknown => {
      const parent = trace.getSpanContext(within);
      parents.push(parent?.traceState?.serialize());
      const own = { traceId, spanId: "1".repeat(16), traceFlags: 1, traceState: parent?.traceState };
      return { spanContext: () => own, setStatus: () => {}, end: () => {} };
    };
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
  });
  afterEach(() => {
    trace.disable();
    context.disable();
  });

  it("is taken from the active span, sent on, and given back with the spans", async () => {
    const active = trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId: "b7ad6b7169203331",
      traceFlags: 1,
      traceState: createTraceState(tracestate),
    });
    await context.with(active, () => arsenal.execute({ toolName: "pets.get_pet" }));
    expect(api.sent.at(-1)?.headers).toMatchObject({ traceparent: expect.stringContaining(traceId), tracestate });
    await arsenal.close();
    expect(parents.length).toBeGreaterThan(2);
    expect(new Set(parents)).toEqual(new Set([tracestate]));
  });
});
