import { readTracestate } from "../base/trace-headers.ts";

/** The caller's position in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The caller's span: 16 hexadecimal digits. */
  readonly parentSpanId: string;
  /** False if the caller does not record the trace. */
  readonly sampled?: false;
  /** The header `tracestate`, with data of other tracing systems. */
  readonly tracestate?: string;
}

/** Starts a span below the caller's span, or at the root of a new trace. Returns its ids, and the trace context for requests that it makes. */
export function spanBelow(caller: TraceContext | undefined, ids: { traceId(): string; spanId(): string }) {
  const traceId = caller?.traceId ?? ids.traceId();
  const spanId = ids.spanId();
  const inherited: Pick<TraceContext, "sampled" | "tracestate"> = {
    ...(caller?.sampled === false && { sampled: caller.sampled }),
    ...(caller?.tracestate !== undefined && { tracestate: caller.tracestate }),
  };
  const below: TraceContext = { traceId, parentSpanId: spanId, ...inherited };
  return { span: { traceId, spanId, ...(caller && { parentSpanId: caller.parentSpanId }), ...inherited }, below };
}

/** Matches version 00, and later versions, which may append members. */
const TRACEPARENT =
  /^(?!ff)(?!00.{53}.)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Parses `traceparent` and `tracestate` from headers or `_meta`. Undefined without a valid `traceparent`. Drops an invalid `tracestate`. */
export function readTraceContext(carrier: Readonly<Record<string, unknown>> = {}): TraceContext | undefined {
  const { traceparent, tracestate: state } = carrier;
  if (typeof traceparent !== "string") return undefined;
  const [, traceId, parentSpanId, flags = ""] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  const tracestate = state === undefined ? undefined : readTracestate(state);
  return {
    traceId,
    parentSpanId,
    ...(!isSampled && { sampled: false }),
    ...(tracestate !== undefined && { tracestate }),
  };
}
