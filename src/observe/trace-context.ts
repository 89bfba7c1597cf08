/** Where a call stands in a trace that a caller began: W3C Trace Context. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's own span. */
  readonly parentSpanId: string;
}

/** Version 00, and later ones, which may add members behind these. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/;

/** Reads the header `traceparent`. Undefined if there is none, or one that the specification tells receivers to ignore. */
export function readTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== "string") return undefined;
  const [, traceId, parentSpanId] = TRACEPARENT.exec(header.trim()) ?? [];
  return traceId === undefined || parentSpanId === undefined ? undefined : { traceId, parentSpanId };
}

/** Writes the header for a request that a span makes. */
export function toTraceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}
