/**
 * The cost of writing spans as OTLP: our writer against `@bufbuild/protobuf` and the official exporter's serializer
 * (`@opentelemetry/otlp-transformer`, from test/peers), on the spans of real calls, in alternating rounds. Each encoder gets the spans
 * in the form that it takes; making that form of our events is counted, because a call would pay for it. Prints microseconds of CPU for the
 * spans of one call, and the ratio to ours.
 *
 *     node bench/otlp.ts [calls]        2,000 by default
 */
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createRequire } from "node:module";
import type { AttributeValue } from "../src/adapters/sinks/opentelemetry/attributes.ts";
import type { Span } from "../src/adapters/sinks/opentelemetry/otlp.ts";
import { createProtobufWriter } from "../src/adapters/sinks/opentelemetry/protobuf.ts";
import { isSpanned, toSpans } from "../src/adapters/sinks/opentelemetry/spans.ts";
import { type ArsenalEvent, ToolArsenal } from "../src/index.ts";
import descriptors from "../test/doubles/otlp.descriptors.json" with { type: "json" };

const ROUNDS = 10;
const BATCH = 512;
const RESOURCE = { "service.name": "bench" };
const SCOPE = { name: "toolarsenal", version: "1.0.0" };

/** Serves calls of one tool, and collects the events that become spans. */
async function collectEvents(calls: number): Promise<readonly ArsenalEvent[]> {
  const arsenal = new ToolArsenal();
  const events: ArsenalEvent[] = [];
  arsenal.subscribe((event) => void (isSpanned(event) && events.push(event)));
  const parameters = { type: "object", properties: { x: { type: "number" } } } as const;
  arsenal.register({ name: "double", description: "Doubles a number.", parameters }, ({ x = 0 }) => 2 * x);
  for (let x = 0; x < calls; x++) await arsenal.execute({ toolName: "double", arguments: { x } });
  await arsenal.close();
  return events;
}

const settings = {
  limits: { maxCount: 128, maxLength: Infinity },
  captureContent: false,
  spanId: () => "00f067aa0ba902b7",
};
const spansOf = (events: readonly ArsenalEvent[]): readonly Span[] =>
  events.flatMap((event) => (isSpanned(event) ? toSpans(event, settings) : []));

function ours(): (spans: readonly Span[]) => number {
  const writer = createProtobufWriter("traces", { resource: { attributes: RESOURCE }, scope: SCOPE });
  return (spans) => writer.join([writer.encode(spans)]).length;
}

function bufbuild(): (spans: readonly Span[]) => number {
  const set = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptors.fileDescriptorSet, "base64"));
  const registry = createFileRegistry(set);
  const request = registry.getMessage("opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest");
  if (request === undefined) throw new Error("The descriptors have no trace request.");
  const toAny = (value: NonNullable<AttributeValue>): object => {
    if (typeof value === "string") return { value: { case: "stringValue", value } };
    if (typeof value === "boolean") return { value: { case: "boolValue", value } };
    if (typeof value !== "number") return { value: { case: "arrayValue", value: { values: value.map(toAny) } } };
    return {
      value: Number.isSafeInteger(value) ? { case: "intValue", value: BigInt(value) } : { case: "doubleValue", value },
    };
  };
  const toAttributes = (of: Span["attributes"]): object[] =>
    Object.entries(of).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toAny(value) }]));
  const nanos = (ms: number): bigint => BigInt(Math.round(ms * 1000)) * 1000n;
  return (spans) => {
    const written = spans.map(({ traceId, spanId, parentSpanId, startedAt, endedAt, attributes, status, ...rest }) => ({
      name: rest.name,
      kind: rest.kind,
      flags: rest.flags,
      traceId: Buffer.from(traceId, "hex"),
      spanId: Buffer.from(spanId, "hex"),
      ...(parentSpanId !== undefined && { parentSpanId: Buffer.from(parentSpanId, "hex") }),
      startTimeUnixNano: nanos(startedAt),
      endTimeUnixNano: nanos(endedAt),
      attributes: toAttributes(attributes),
      ...(status && { status }),
    }));
    const message = create(request, {
      resourceSpans: [
        { resource: { attributes: toAttributes(RESOURCE) }, scopeSpans: [{ scope: SCOPE, spans: written }] },
      ],
    } as Record<string, unknown>);
    return toBinary(request, message).length;
  };
}

function official(): (spans: readonly Span[]) => number {
  const load = createRequire(new URL("../test/peers/package.json", import.meta.url));
  const { ProtobufTraceSerializer } = load("@opentelemetry/otlp-transformer") as {
    readonly ProtobufTraceSerializer: { serializeRequest(spans: readonly object[]): Uint8Array };
  };
  const { resourceFromAttributes } = load("@opentelemetry/resources") as {
    resourceFromAttributes(attributes: object): object;
  };
  const resource = resourceFromAttributes(RESOURCE);
  const toHr = (ms: number): readonly [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
  return (spans) => {
    const readable = spans.map(
      ({ name, kind, traceId, spanId, parentSpanId, startedAt, endedAt, attributes, status }) => ({
        name,
        kind: kind - 1,
        spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
        ...(parentSpanId !== undefined && { parentSpanContext: { traceId, spanId: parentSpanId, traceFlags: 1 } }),
        startTime: toHr(startedAt),
        endTime: toHr(endedAt),
        attributes,
        status: status ?? { code: 0 },
        events: [],
        links: [],
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: 0,
        instrumentationScope: SCOPE,
        resource,
      }),
    );
    return ProtobufTraceSerializer.serializeRequest(readable).length;
  };
}

const calls = Number(process.argv[2] ?? 2000);
const events = await collectEvents(calls);
const encoders = { ours: ours(), "@bufbuild/protobuf": bufbuild(), "@opentelemetry/otlp-transformer": official() };
const best: Record<string, number> = {};
const sizes: Record<string, number> = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, encode] of Object.entries(encoders)) {
    const before = process.cpuUsage();
    sizes[name] = 0;
    for (let at = 0; at < events.length; at += BATCH) sizes[name] += encode(spansOf(events.slice(at, at + BATCH)));
    const { user, system } = process.cpuUsage(before);
    best[name] = Math.min(best[name] ?? Infinity, (user + system) / calls);
  }
}
const spans = spansOf(events).length / calls;
for (const [name, micros] of Object.entries(best)) {
  const ratio = micros / (best["ours"] ?? 1);
  console.log(JSON.stringify({ encoder: name, microsPerCall: micros, ratio, spansPerCall: spans, bytes: sizes[name] }));
}
