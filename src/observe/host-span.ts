import { readTracestate } from "../base/trace-headers.ts";
import type { TraceContext } from "./trace-context.ts";

/**
 * The global of `@opentelemetry/api` that holds the application's registrations, and the key of the span in a context. Both are stable across
 * versions.
 */
const API = Symbol.for("opentelemetry.js.api.1");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

interface HostApi {
  readonly trace?: unknown;
  readonly context?: { active(): { getValue(key: symbol): unknown } };
}

interface HostSpan {
  spanContext(): {
    traceId: string;
    spanId: string;
    traceFlags: number;
    traceState?: { serialize(): string } | undefined;
  };
}

const hostApi = (): HostApi | undefined => (globalThis as { readonly [API]?: HostApi })[API];

/** Returns true if the application that embeds this library has registered a tracer provider with `@opentelemetry/api`. */
export function hasHostTracer(): boolean {
  return hostApi()?.trace !== undefined;
}

/** The application's active span; undefined if there is none. */
export function activeHostSpan(): TraceContext | undefined {
  const span = hostApi()?.context?.active().getValue(SPAN) as HostSpan | undefined;
  if (span === undefined) return undefined;
  const { traceId, spanId: parentSpanId, traceFlags, traceState } = span.spanContext();
  const tracestate = readTracestate(traceState?.serialize());
  return {
    traceId,
    parentSpanId,
    ...((traceFlags & 1) === 0 && { sampled: false }),
    ...(tracestate !== undefined && { tracestate }),
  };
}
