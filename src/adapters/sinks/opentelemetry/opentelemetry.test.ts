import * as semconv from "@opentelemetry/semantic-conventions/incubating";
import { afterEach, describe, expect, it } from "vitest";
import { type OtlpCollector, startCollector } from "../../../../test/doubles/otlp-collector.ts";
import { EVENTS, PARENT, TRACE } from "../../../../test/doubles/span-events.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import { sinkContract } from "../../../testing/sink.contract.ts";
import { createMetricRegistry } from "../../../observe/metrics/registry.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { openTelemetrySink } from "./opentelemetry.ts";

/** No variables of the machine that runs the tests. */
const environment = {};

const open: OtlpCollector[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function collect(): Promise<OtlpCollector> {
  const collector = await startCollector();
  open.push(collector);
  return collector;
}

describe("openTelemetrySink, as a sink", () => {
  const make = async () => {
    const { url } = await collect();
    return { adapter: openTelemetrySink({ otlp: { endpoint: url } }, { environment }) };
  };
  for (const { name, run } of sinkContract(make)) it(name, run);
});

describe("openTelemetrySink", () => {
  it.each(["http/protobuf", "http/json"] as const)(
    "sends spans that the official descriptors decode, over %s [000-5.5-opentelemetry] [000-9.1-otlp] [000-2.3-spans]",
    async (protocol) => {
      const collector = await collect();
      const sink = openTelemetrySink(
        { serviceName: "tools", captureContent: true, otlp: { endpoint: collector.url, protocol } },
        { environment: { OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=other" } },
      );
      await sink.write(EVENTS);
      await sink.close?.();

      expect(collector.requests[0]).toMatchObject({
        path: "/v1/traces",
        headers: { "content-type": protocol === "http/json" ? "application/json" : "application/x-protobuf" },
        resource: {
          "service.name": "tools",
          "deployment.environment.name": "test",
          "telemetry.sdk.language": "nodejs",
        },
      });
      const spans = collector.spans();
      const named = (name: string) => spans.filter((span) => span.name === name);
      expect(spans.every(({ traceId }) => traceId === TRACE)).toBe(true);
      expect(named("retrieval office")).toMatchObject([
        {
          spanId: "00f067aa0ba902b7",
          parentSpanId: PARENT,
          kind: "SPAN_KIND_INTERNAL",
          startTimeUnixNano: "1769860800000250000",
          endTimeUnixNano: "1769860800012750000",
          attributes: {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "send an email",
            "toolarsenal.retrieval.tools": ["mail.send_email"],
            "toolarsenal.retrieval.candidates": 10,
            "toolarsenal.retrieval.confidence": 0.75,
            "toolarsenal.retrieval.nothing_fits": false,
          },
        },
      ]);
      const steps = spans.filter(({ parentSpanId }) => parentSpanId === "00f067aa0ba902b7");
      expect(steps.map(({ name }) => name)).toEqual([
        "understand",
        "filter",
        "lexical",
        "dense",
        "fuse",
        "rerank",
        "fit",
      ]);
      expect(steps.at(-1)).toMatchObject({ endTimeUnixNano: "1769860800012750000" });
      expect(named("execute_tool send_email")).toMatchObject([
        {
          spanId: "00f067aa0ba902b9",
          attributes: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "send_email",
            "gen_ai.tool.type": "extension",
            "gen_ai.tool.call.id": "call_7",
            "error.type": "EXECUTION_FAILED",
            "toolarsenal.tool.id": "mail.send_email",
          },
          status: { code: "STATUS_CODE_ERROR", message: "Ümlaut ✓ refused" },
        },
      ]);
      const below = spans.filter(({ parentSpanId }) => parentSpanId === "00f067aa0ba902b9");
      expect(below.map(({ name }) => name)).toEqual(["policy", "queue", "attempt 1"]);
      expect(named("tools/call sendEmail")).toMatchObject([
        {
          parentSpanId: "00f067aa0ba902ba",
          kind: "SPAN_KIND_CLIENT",
          attributes: { "mcp.method.name": "tools/call", "mcp.session.id": "s-1", "server.port": 443 },
        },
      ]);
      expect(named("GET /pets/{id}")).toMatchObject([{ attributes: { "http.response.status_code": 200 } }]);
      expect(named("POST /mcp")).toMatchObject([
        { kind: "SPAN_KIND_SERVER", attributes: { "http.route": "/mcp" }, status: { code: "STATUS_CODE_ERROR" } },
      ]);
      expect(named("resources/read")).toMatchObject([
        { attributes: { "mcp.resource.uri": "file:///notes", "jsonrpc.request.id": "7", "error.type": "-32602" } },
      ]);
    },
  );

  it("names attributes as the published conventions do, and its own with a prefix", async () => {
    const collector = await collect();
    const sink = openTelemetrySink(
      { captureContent: true, level: "debug", otlp: { endpoint: collector.url } },
      { environment },
    );
    await sink.write(EVENTS);
    await sink.close?.();
    const published = new Set<unknown>(Object.values(semconv));
    const used = [...collector.spans(), ...collector.logs()].flatMap(({ attributes }) => Object.keys(attributes));
    const resource = collector.requests.flatMap((request) => Object.keys(request.resource));
    const names = [...new Set([...used, ...resource])];
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !name.startsWith("toolarsenal.") && !published.has(name))).toEqual([]);
    expect(published.has("toolarsenal.tool.id")).toBe(false);
  });

  it("sends warnings and errors as log records of their trace [000-9.1-otlp]", async () => {
    const collector = await collect();
    const sink = openTelemetrySink({ otlp: { endpoint: collector.url } }, { environment });
    await sink.write([
      ...EVENTS,
      {
        name: "circuit-opened",
        level: "warn",
        at: 1_769_860_800_000,
        data: { toolId: "a.b", consecutiveFailures: 5, retryAfterMs: 60_000 },
      },
    ]);
    await sink.close?.();
    expect(collector.logs().map(({ eventName }) => eventName)).toEqual([
      "toolarsenal.retrieval-failed",
      "toolarsenal.call-finished",
      "toolarsenal.circuit-opened",
    ]);
    expect(collector.logs().slice(1)).toMatchObject([
      {
        severityNumber: "SEVERITY_NUMBER_WARN",
        traceId: TRACE,
        spanId: "00f067aa0ba902b9",
        body: { stringValue: "Ümlaut ✓ refused" },
        attributes: { "toolarsenal.code": "EXECUTION_FAILED" },
      },
      { attributes: { "toolarsenal.tool_id": "a.b", "toolarsenal.consecutive_failures": 5 } },
    ]);
  });

  it("sends the metrics of its arsenal when they are due and when it closes [000-5.5-opentelemetry]", async () => {
    const collector = await collect();
    const registry = createMetricRegistry();
    const calls = registry.counter("toolarsenal_calls_total", "Calls.", ["status"]);
    const durations = registry.histogram("toolarsenal_call_duration_seconds", "Time.", [], [0.1, 1]);
    registry.gauge("process_resident_memory_bytes", "Memory.").set(42);
    calls.add(3, "success");
    for (const seconds of [0.05, 0.5, 0.5, 7]) durations.observe(seconds);
    const clock = createManualClock(1_769_860_800_000);
    const sink = openTelemetrySink(
      { otlp: { endpoint: collector.url, metricsDelayMs: 1000 } },
      { environment, clock, metrics: async () => registry },
    );
    await clock.advance(1000);
    await clock.advance(5000);
    await collector.until(() => collector.metrics().length > 0);
    calls.add(1, "success");
    await sink.close?.();
    const named = (name: string) => collector.metrics().filter((metric) => metric["name"] === name);
    expect(named("toolarsenal.calls")[0]).toMatchObject({
      unit: "1",
      description: "Calls.",
      sum: {
        aggregationTemporality: "AGGREGATION_TEMPORALITY_CUMULATIVE",
        isMonotonic: true,
        dataPoints: [
          {
            asDouble: 3,
            startTimeUnixNano: "1769860800000000000",
            attributes: [{ key: "toolarsenal.status", value: { stringValue: "success" } }],
          },
        ],
      },
    });
    expect(named("toolarsenal.calls").at(-1)).toMatchObject({ sum: { dataPoints: [{ asDouble: 4 }] } });
    expect(named("toolarsenal.call_duration")[0]).toMatchObject({
      unit: "s",
      histogram: {
        dataPoints: [{ count: "4", sum: 8.05, bucketCounts: ["1", "2", "1"], explicitBounds: [0.1, 1] }],
      },
    });
    expect(named("toolarsenal.process_resident_memory")[0]).toMatchObject({
      unit: "By",
      gauge: { dataPoints: [{ asDouble: 42 }] },
    });
  });

  it("bounds what attributes hold and how many there are, and says how many it left out", async () => {
    const collector = await collect();
    const [, , call] = EVENTS as readonly [unknown, unknown, ArsenalEvent<"call-finished">];
    const sink = openTelemetrySink(
      { otlp: { endpoint: collector.url } },
      { environment: { OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: "10", OTEL_ATTRIBUTE_COUNT_LIMIT: "3" } },
    );
    await sink.write([{ ...call, data: { ...call.data, message: "x".repeat(10_000_000) } }]);
    await sink.close?.();
    const [span] = collector.spans();
    expect(span).toMatchObject({ droppedAttributesCount: 9, status: { message: "x".repeat(10) } });
    expect(span?.attributes).toEqual({
      "gen_ai.operation.name": "execute_to",
      "gen_ai.tool.name": "send_email",
      "gen_ai.tool.type": "extension",
    });
  });

  it("makes no span of a trace that its caller does not record, and an id for one that W3C does not know", async () => {
    const collector = await collect();
    const [, failed] = EVENTS as readonly [unknown, ArsenalEvent<"retrieval-failed">];
    const sink = openTelemetrySink({ otlp: { endpoint: collector.url, logs: false } }, { environment });
    await sink.write([
      { ...failed, data: { ...failed.data, sampled: false } },
      { ...failed, data: { ...failed.data, traceId: "order-42" } },
    ]);
    await sink.close?.();
    expect(collector.spans()).toMatchObject([
      { traceId: expect.stringMatching(/^[0-9a-f]{32}$/), attributes: { "toolarsenal.trace_id": "order-42" } },
    ]);
  });

  it("is told by the configuration, with secrets by reference, or by OpenTelemetry's own variables", async () => {
    const [first, second] = [await collect(), await collect()];
    const configured = new ToolArsenal({
      telemetry: {
        type: "opentelemetry",
        otlpEndpoint: first.url,
        otlp: { headers: { "X-Key": "env:OTLP_KEY" }, compression: "gzip" },
      },
      environment: { OTLP_KEY: "k-123456789", OTEL_SERVICE_NAME: "from-environment" },
    });
    configured.register({ name: "double", description: "Doubles." }, () => 2);
    await configured.execute({ toolName: "double" });
    await configured.close();
    expect(first.requests[0]).toMatchObject({
      headers: { "x-key": "k-123456789", "content-encoding": "gzip" },
      resource: { "service.name": "from-environment" },
    });
    expect(first.spans().map(({ name }) => name)).toContain("execute_tool double");

    const fromVariables = openTelemetrySink(
      {},
      {
        environment: {
          OTEL_EXPORTER_OTLP_ENDPOINT: `${second.url}/`,
          OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20t,x=1",
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
          OTEL_LOGS_EXPORTER: "none",
          OTEL_SERVICE_NAME: "s",
        },
      },
    );
    await fromVariables.write(EVENTS);
    await fromVariables.close?.();
    expect(second.logs()).toEqual([]);
    expect(second.requests).toMatchObject([
      {
        path: "/v1/traces",
        headers: { authorization: "Bearer t", x: "1", "content-type": "application/json" },
        resource: { "service.name": "s" },
      },
    ]);
  });

  it("refuses an address and a protocol that it cannot use", () => {
    const make = (variables: Record<string, string>) => () => openTelemetrySink({}, { environment: variables });
    expect(make({ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4317" })).toThrow(
      "OTEL_EXPORTER_OTLP_ENDPOINT is not an http",
    );
    expect(make({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toThrow('OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"');
  });
});
