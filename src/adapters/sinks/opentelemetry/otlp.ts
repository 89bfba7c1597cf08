import type { Attributes } from "./attributes.ts";

/** What OTLP carries. All but spans are in the shape of its JSON encoding: names in camelCase, ids in hexadecimal, 64-bit numbers as text. */

export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** A span. It is made often and written by hand, so it has the times and attributes as they are known. */
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
  /** Within the limits. */
  readonly attributes: Attributes;
  readonly droppedAttributesCount: number;
  readonly status: { readonly code: number; readonly message?: string } | undefined;
}

/** The W3C flag of a trace that is recorded, as every span that is sent is. */
export const SAMPLED = 1;
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = (typeof SPAN_KIND)[keyof typeof SPAN_KIND];
export const STATUS_ERROR = 2;

export interface LogRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly eventName: string;
  readonly body: AnyValue;
  readonly attributes: readonly KeyValue[];
  readonly droppedAttributesCount?: number;
  readonly flags?: number;
  readonly traceId?: string;
  readonly spanId?: string;
}

/** Cumulative since the start of the process. */
export const CUMULATIVE = 2;

export interface Metric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly gauge?: { readonly dataPoints: readonly NumberPoint[] };
  readonly sum?: {
    readonly dataPoints: readonly NumberPoint[];
    readonly aggregationTemporality: number;
    readonly isMonotonic: boolean;
  };
  readonly histogram?: { readonly dataPoints: readonly HistogramPoint[]; readonly aggregationTemporality: number };
}

export interface NumberPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly asDouble: number;
}

export interface HistogramPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly count: string;
  readonly sum: number;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
}

/** Milliseconds since the epoch, with fractions, as nanoseconds in text. */
export function toNanos(ms: number): string {
  // Nanoseconds since the epoch do not fit into a number; microseconds do.
  return `${Math.round(Math.max(0, ms) * 1000)}000`;
}

/** The signals, and what their messages are called. Their field numbers are the same. */
export const SIGNALS = {
  traces: { resources: "resourceSpans", scopes: "scopeSpans", items: "spans" },
  logs: { resources: "resourceLogs", scopes: "scopeLogs", items: "logRecords" },
  metrics: { resources: "resourceMetrics", scopes: "scopeMetrics", items: "metrics" },
} as const;
export type Signal = keyof typeof SIGNALS;
