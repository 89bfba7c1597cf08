import type * as Api from "@opentelemetry/api";
import { messageOf } from "../../../errors/show-value.ts";
import { createBoundedQueue } from "../../../observe/bounded-queue.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { Span } from "./otlp.ts";

/** Passes spans to the application's tracer provider, which assigns their ids. Buffers spans briefly, because the provider needs parents first. */
export function createHostTracer<Item>(parts: {
  readonly toSpans: (item: Item) => readonly Span[];
  readonly version: string;
  readonly queueSize: number;
  readonly delayMs: number;
  readonly clock: Clock;
  readonly lost: (items: number, why: string) => void;
}) {
  const queue = createBoundedQueue<Item>(parts.queueSize);
  let cancelTimer: (() => void) | undefined;

  async function flush(): Promise<void> {
    cancelTimer = undefined;
    const api = await import("@opentelemetry/api");
    const tracer = api.trace.getTracer("toolarsenal", parts.version);
    const spans = queue.take(queue.size).flatMap(parts.toSpans);
    const waiting = new Map(spans.map((span) => [span.spanId, span]));
    const made = new Map<string, Api.Context>();
    const contextOf = (span: Span): Api.Context => {
      const known = made.get(span.spanId);
      if (known !== undefined) return known;
      const above = span.parentSpanId === undefined ? undefined : waiting.get(span.parentSpanId);
      const parent = above === undefined ? remote(api, span) : contextOf(above);
      const kind = (span.kind - 1) as Api.SpanKind;
      const options = { kind, startTime: span.startedAt, attributes: span.attributes as Api.Attributes };
      const started = tracer.startSpan(span.name, options, parent);
      if (span.status !== undefined) started.setStatus(span.status as Api.SpanStatus);
      started.end(span.endedAt);
      const context = api.trace.setSpan(parent, started);
      made.set(span.spanId, context);
      return context;
    };
    for (const span of waiting.values()) contextOf(span);
  }

  const flushSafely = (): Promise<void> => flush().catch((error: unknown) => parts.lost(1, messageOf(error)));

  return {
    add(item: Item): void {
      if (!queue.push(item)) parts.lost(1, `its queue of ${parts.queueSize} is full`);
      cancelTimer ??= parts.clock.after(parts.delayMs, () => void flushSafely(), { background: true });
    },
    async close(): Promise<void> {
      cancelTimer?.();
      if (queue.size > 0) await flushSafely();
    },
  };
}

/** Returns the context of a span whose parent belongs to the application or another program. */
function remote(api: typeof Api, { traceId, parentSpanId, traceState }: Span): Api.Context {
  if (parentSpanId === undefined) return api.ROOT_CONTEXT;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, {
    traceId,
    spanId: parentSpanId,
    traceFlags: 1,
    isRemote: true,
    ...(traceState !== undefined && { traceState: api.createTraceState(traceState) }),
  });
}
