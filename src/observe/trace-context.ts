/** Where a call stands in a trace that a caller began: W3C Trace Context. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's own span. */
  readonly parentSpanId: string;
  /** False if the caller does not record the trace. */
  readonly sampled?: false;
}

/** A new span: its ids, and the context of what it does. */
export interface StartedSpan {
  readonly span: {
    readonly traceId: string;
    readonly spanId: string;
    readonly parentSpanId?: string;
    readonly sampled?: false;
  };
  readonly below: TraceContext;
}

/** Starts a span below the caller's, or at the head of a new trace. */
export function spanBelow(caller: TraceContext | undefined, ids: { traceId(): string; spanId(): string }): StartedSpan {
  const traceId = caller?.traceId ?? ids.traceId();
  const spanId = ids.spanId();
  const sampled = caller?.sampled === false ? { sampled: caller.sampled } : {};
  return {
    span: { traceId, spanId, ...(caller && { parentSpanId: caller.parentSpanId }), ...sampled },
    below: { traceId, parentSpanId: spanId, ...sampled },
  };
}

/** Version 00, and later ones, which may add members behind these. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Reads the header `traceparent`. Undefined if there is none, or one that the specification tells receivers to ignore. */
export function readTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== "string") return undefined;
  const [, traceId, parentSpanId, flags = ""] = TRACEPARENT.exec(header.trim()) ?? [];
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, parentSpanId, ...(!isSampled && { sampled: false }) };
}

/** Writes the header for a request that a span makes. */
export function toTraceparent(traceId: string, spanId: string, sampled = true): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}
