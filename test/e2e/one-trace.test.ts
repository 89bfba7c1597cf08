import { randomBytes } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import * as semconv from "@opentelemetry/semantic-conventions/incubating";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ToolArsenal } from "../../src/index.ts";
import { type OtlpCollector, type ReceivedSpan, startCollector } from "../doubles/otlp-collector.ts";
import { modern } from "../mcp/sample-endpoint.ts";
import { listenAs } from "./era-server.ts";
import { documentOf, startEcho } from "./openapi-echo.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** The span of a program that calls the gateway. */
const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;

/** A real MCP server that continues the trace it is told of and exports its own span. */
async function startTracedServer(era: "legacy" | "modern", collector: OtlpCollector): Promise<string> {
  const server = await listenAs(era, () => {
    const weather = new McpServer({ name: "weather", version: "1.0.0" });
    weather.registerTool(
      "get-forecast",
      { description: "Gets the weather forecast for a city.", inputSchema: z.object({ city: z.string() }) },
      async (_args, context) => {
        await exportSpan(collector, String(context.mcpReq._meta?.["traceparent"]));
        return { content: [{ type: "text", text: "sunny" }] };
      },
    );
    return weather;
  });
  closers.push(server.close);
  return server.url;
}

async function exportSpan(collector: OtlpCollector, parent: string): Promise<void> {
  const [, traceId, parentSpanId] = parent.split("-");
  const now = `${Date.now()}000000`;
  const span = {
    traceId,
    parentSpanId,
    spanId: randomBytes(8).toString("hex"),
    name: "forecast model",
    kind: 2,
    startTimeUnixNano: now,
    endTimeUnixNano: now,
  };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "weather" } }] };
  const answer = await fetch(`${collector.url}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }),
  });
  expect(answer.status).toBe(200);
}

/** A gateway that exports its spans, with one MCP server behind it. */
async function startGateway(era: "legacy" | "modern"): Promise<{
  collector: OtlpCollector;
  url: string;
  arsenal: ToolArsenal;
  /** Closes the gateway, which sends what it has, and returns every span. */
  spans(): Promise<readonly ReceivedSpan[]>;
}> {
  const collector = await startCollector();
  closers.push(collector.close);
  const address = await startTracedServer(era, collector);
  const arsenal = new ToolArsenal({
    telemetry: { type: "opentelemetry", otlp: { endpoint: collector.url, metrics: false } },
    security: { pins: "off" },
    embedder: { tier: "lexical" },
    environment: {},
  });
  closers.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "weather", transport: { kind: "http", url: address } });
  const served = await arsenal.serve({ port: 0, mode: "dynamic" });
  closers.push(served.close);
  return {
    collector,
    url: String(served.url),
    arsenal,
    async spans() {
      await served.close();
      await arsenal.close();
      return collector.spans();
    },
  };
}

/** The names from a span up to the caller, innermost first. */
function pathOf(span: ReceivedSpan | undefined, spans: readonly ReceivedSpan[]): readonly string[] {
  if (span === undefined) return [];
  if (span.parentSpanId === CALLER.spanId) return [span.name, "(caller)"];
  return [
    span.name,
    ...pathOf(
      spans.find(({ spanId }) => spanId === span.parentSpanId),
      spans,
    ),
  ];
}

describe("a trace", () => {
  it.each(["legacy", "modern"] as const)(
    "is one tree from HTTP requests through retrieve and execute to a %s MCP server that continues it [000-13-trace]",
    async (era) => {
      const gateway = await startGateway(era);
      const post = async (id: number, name: string, args: object): Promise<unknown> => {
        const answer = await fetch(`${gateway.url}/mcp`, {
          method: "POST",
          headers: {
            traceparent,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-method": "tools/call",
            "mcp-name": name,
            "mcp-protocol-version": "2026-07-28",
          },
          body: JSON.stringify(modern(id, "tools/call", { name, arguments: args })),
        });
        return answer.json();
      };
      const found = await post(1, "find_relevant_tools", { query: "weather forecast for a city" });
      expect(JSON.stringify(found)).toContain("weather-get_forecast");
      const called = await post(2, "execute_tool", {
        tool_name: "weather-get_forecast",
        arguments: { city: "Rome" },
      });
      expect(called).toMatchObject({ result: { content: [{ text: "sunny" }] } });

      const spans = await gateway.spans();
      expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.traceId]));
      const named = (name: string) => spans.find((span) => span.name === name);
      expect(pathOf(named("forecast model"), spans)).toEqual([
        "forecast model",
        "tools/call get-forecast",
        "attempt 1",
        "execute_tool get_forecast",
        "tools/call execute_tool",
        "POST /mcp",
        "(caller)",
      ]);
      expect(pathOf(named("lexical"), spans)).toEqual([
        "lexical",
        "retrieval catalog",
        "tools/call find_relevant_tools",
        "POST /mcp",
        "(caller)",
      ]);
      // Nothing is left over: every span leads up to the caller, and each ends no sooner than it began.
      for (const span of spans) expect(pathOf(span, spans).at(-1)).toBe("(caller)");
      for (const { startTimeUnixNano, endTimeUnixNano } of spans)
        expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
      expect(named("tools/call get-forecast")).toMatchObject({
        kind: "SPAN_KIND_CLIENT",
        attributes: { "mcp.method.name": "tools/call", "network.transport": "tcp", "server.address": "127.0.0.1" },
      });
      expect(named("POST /mcp")).toMatchObject({
        kind: "SPAN_KIND_SERVER",
        attributes: { "http.request.method": "POST", "http.response.status_code": 200, "http.route": "/mcp" },
      });
      const published = new Set<unknown>(Object.values(semconv));
      const names = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
      expect([...names].filter((name) => !name.startsWith("toolarsenal.") && !published.has(name))).toEqual([]);
    },
  );

  it("goes through REST, too", async () => {
    const gateway = await startGateway("modern");
    const post = async (path: string, body: object): Promise<unknown> => {
      const headers = { traceparent, "content-type": "application/json" };
      const answer = await fetch(`${gateway.url}/api/v1/${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return answer.json();
    };
    await post("search", { context: { query: "weather forecast for a city" } });
    await post("execute", { toolName: "weather.get_forecast", arguments: { city: "Rome" } });
    const spans = await gateway.spans();
    const path = (name: string) =>
      pathOf(
        spans.find((span) => span.name === name),
        spans,
      ).slice(1);
    expect(path("retrieval catalog")).toEqual([expect.stringMatching(/^POST \/api\/v1\//), "(caller)"]);
    expect(path("forecast model")).toEqual([
      "tools/call get-forecast",
      "attempt 1",
      "execute_tool get_forecast",
      expect.stringMatching(/^POST \/api\/v1\//),
      "(caller)",
    ]);
  });

  it("comes in by _meta from an MCP client of the older era, whatever the transport says", async () => {
    const gateway = await startGateway("legacy");
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
    closers.push(() => client.close());
    await client.callTool({
      name: "weather-get_forecast",
      arguments: { city: "Rome" },
      _meta: { traceparent, tracestate: "vendor=1" },
    });
    const spans = await gateway.spans();
    const model = spans.find(({ name }) => name === "forecast model");
    expect(pathOf(model, spans).slice(3)).toEqual([
      "execute_tool get_forecast",
      "tools/call weather-get_forecast",
      "(caller)",
    ]);
    const call = spans.find(({ name }) => name === "tools/call weather-get_forecast");
    expect(call?.attributes).toMatchObject({
      "mcp.session.id": expect.any(String),
      "mcp.protocol.version": "2025-11-25",
      "jsonrpc.request.id": expect.any(String),
    });
  });

  it("begins at the gateway if the caller has none, and ends where the caller does not record it", async () => {
    const gateway = await startGateway("modern");
    const call = (sampled?: string): Promise<Response> =>
      fetch(`${gateway.url}/api/v1/execute`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(sampled && { traceparent: traceparent.replace(/01$/, sampled) }),
        },
        body: JSON.stringify({ toolName: "weather.get_forecast", arguments: { city: "Rome" } }),
      });
    await call("00");
    await call();
    const spans = await gateway.spans();
    const [ignored, model] = spans.filter(({ name }) => name === "forecast model");
    expect(ignored?.traceId).toBe(CALLER.traceId);
    expect(spans.filter(({ traceId }) => traceId === CALLER.traceId)).toEqual([ignored]);
    const root = spans.find(({ name }) => name.startsWith("POST /api/v1"));
    expect(root).not.toHaveProperty("parentSpanId");
    expect(model?.traceId).toBe(root?.traceId);
  });

  it("reaches APIs as a header, with the span of the request", async () => {
    const gateway = await startGateway("modern");
    const api = await startEcho();
    closers.push(api.close);
    const document = documentOf({
      "/pets/{id}": {
        get: {
          operationId: "getPet",
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
          responses: { 200: { description: "ok" } },
        },
      },
    });
    await gateway.arsenal.add({ type: "openapi", name: "pets", document, server: api.url });
    await gateway.arsenal.execute({
      toolName: "pets.get_pet",
      arguments: { id: "7" },
      traceId: CALLER.traceId,
      parentSpanId: CALLER.spanId,
    });
    const spans = await gateway.spans();
    const request = spans.find(({ name }) => name === "GET /pets/{id}");
    expect(pathOf(request, spans)).toEqual(["GET /pets/{id}", "attempt 1", "execute_tool get_pet", "(caller)"]);
    expect(request?.attributes).toMatchObject({
      "http.request.method": "GET",
      "url.template": "/pets/{id}",
      "http.response.status_code": 200,
    });
    expect(api.sent.at(-1)?.headers["traceparent"]).toBe(`00-${CALLER.traceId}-${request?.spanId}-01`);
  });
});
