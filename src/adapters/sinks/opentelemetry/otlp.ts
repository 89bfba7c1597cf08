import type { Attributes } from "./attributes.ts";

/** A span, for both encodings and for the application's tracer. */
export interface Span {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** W3C `tracestate`. */
  readonly traceState: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since the epoch, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Already within the limits. */
  readonly attributes: Attributes;
  readonly droppedAttributesCount: number | undefined;
  readonly status: { readonly code: number; readonly message?: string } | undefined;
  readonly flags: typeof SAMPLED;
}

/** The W3C flag of a recorded trace. Every sent span has it. */
export const SAMPLED = 1;
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = (typeof SPAN_KIND)[keyof typeof SPAN_KIND];
export const STATUS_ERROR = 2;
/** Cumulative since the start of the process. */
export const CUMULATIVE = 2;

/** Protobuf wire types. `time` is in milliseconds, which OTLP stores as nanoseconds. A `count` is an integer. */
const WIRE_TYPES = {
  string: 2,
  hex: 2,
  uint: 0,
  bool: 0,
  fixed32: 5,
  time: 1,
  count: 1,
  counts: 2,
  double: 1,
  doubles: 2,
  attributes: 2,
} as const;

export interface Field {
  readonly name: string;
  readonly json: string;
  /** The field's number and wire type in protobuf. */
  readonly tag: number;
  readonly type: keyof typeof WIRE_TYPES | Message;
}
export type Message = readonly Field[];

function message(fields: Readonly<Record<string, readonly [number, Field["type"], json?: string]>>): Message {
  return Object.entries(fields).map(([name, [number, type, json = name]]) => {
    return { name, json, tag: number * 8 + (typeof type === "string" ? WIRE_TYPES[type] : 2), type };
  });
}

// Field numbers are those of opentelemetry-proto. Tests decode the output with the official descriptors.
export const RESOURCE: Message = message({ attributes: [1, "attributes"] });
export const SCOPE: Message = message({ name: [1, "string"], version: [2, "string"] });
const SPAN = message({
  traceId: [1, "hex"],
  spanId: [2, "hex"],
  traceState: [3, "string"],
  parentSpanId: [4, "hex"],
  name: [5, "string"],
  kind: [6, "uint"],
  startedAt: [7, "time", "startTimeUnixNano"],
  endedAt: [8, "time", "endTimeUnixNano"],
  attributes: [9, "attributes"],
  droppedAttributesCount: [10, "uint"],
  status: [15, message({ message: [2, "string"], code: [3, "uint"] })],
  flags: [16, "fixed32"],
});
const LOG_RECORD = message({
  at: [1, "time", "timeUnixNano"],
  severityNumber: [2, "uint"],
  severityText: [3, "string"],
  body: [5, message({ stringValue: [1, "string"] })],
  attributes: [6, "attributes"],
  droppedAttributesCount: [7, "uint"],
  flags: [8, "fixed32"],
  traceId: [9, "hex"],
  spanId: [10, "hex"],
  observedAt: [11, "time", "observedTimeUnixNano"],
  eventName: [12, "string"],
});
const NUMBER_POINT = message({
  startedAt: [2, "time", "startTimeUnixNano"],
  readAt: [3, "time", "timeUnixNano"],
  asDouble: [4, "double"],
  attributes: [7, "attributes"],
});
const HISTOGRAM_POINT = message({
  startedAt: [2, "time", "startTimeUnixNano"],
  readAt: [3, "time", "timeUnixNano"],
  count: [4, "count"],
  sum: [5, "double"],
  bucketCounts: [6, "counts"],
  explicitBounds: [7, "doubles"],
  attributes: [9, "attributes"],
});
const METRIC = message({
  name: [1, "string"],
  description: [2, "string"],
  unit: [3, "string"],
  gauge: [5, message({ dataPoints: [1, NUMBER_POINT] })],
  sum: [7, message({ dataPoints: [1, NUMBER_POINT], aggregationTemporality: [2, "uint"], isMonotonic: [3, "bool"] })],
  histogram: [9, message({ dataPoints: [1, HISTOGRAM_POINT], aggregationTemporality: [2, "uint"] })],
});

/** The signals: their items, and the names of the enclosing messages. The field numbers of these messages are the same for all signals. */
export const SIGNALS = {
  traces: { item: SPAN, resources: "resourceSpans", scopes: "scopeSpans", items: "spans" },
  logs: { item: LOG_RECORD, resources: "resourceLogs", scopes: "scopeLogs", items: "logRecords" },
  metrics: { item: METRIC, resources: "resourceMetrics", scopes: "scopeMetrics", items: "metrics" },
} as const;
export type Signal = keyof typeof SIGNALS;

/** Describes the sender, in the members of the messages `RESOURCE` and `SCOPE`. */
export interface Sender {
  readonly resource: object;
  readonly scope: object;
}

/** Writes requests of one signal from one sender. */
export interface RequestWriter {
  /** Writes spans, log records or metrics as a part of a request. */
  encode(items: readonly object[]): Uint8Array;
  /** Joins parts to the body of an export request. */
  join(parts: readonly Uint8Array[]): Uint8Array;
}
