import type * as Api from "@opentelemetry/api";
import { createBoundedQueue } from "../../../observe/bounded-queue.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { Span } from "./otlp.ts";

/** Hands spans to the tracer provider that the application registered. */
export interface HostTracer<Item> {
  add(item: Item): void;
  close(): Promise<void>;
}

/**
 * Collects what belongs together for a while, because a span ends after those below it and the application's provider wants them from the top.
 * The provider chooses the ids of the spans.
 */
export function createHostTracer<Item>(parts: {
  readonly toSpans: (item: Item) => readonly Span[];
  readonly version: string;
  readonly queueSize: number;
  readonly delayMs: number;
  readonly clock: Clock;
  readonly lost: (items: number, why: string) => void;
}): HostTracer<Item> {
  const queue = createBoundedQueue<Item>(parts.queueSize);
  let cancelTimer: (() => void) | undefined;

  async function flush(): Promise<void> {
    cancelTimer = undefined;
    const api = await import("@opentelemetry/api");
    const tracer = api.trace.getTracer("toolarsenal", parts.version);
    const waiting = new Map(
      queue
        .take(queue.size)
        .flatMap(parts.toSpans)
        .map((span) => [span.spanId, span]),
    );
    const made = new Map<string, Api.Context>();
    /** The context that holds a span, which is made if it is one of ours. */
    const contextOf = (span: Span): Api.Context => {
      const known = made.get(span.spanId);
      if (known !== undefined) return known;
      const above = span.parentSpanId === undefined ? undefined : waiting.get(span.parentSpanId);
      const parent = above === undefined ? remote(api, span) : contextOf(above);
      const started = tracer.startSpan(
        span.name,
        {
          kind: (span.kind - 1) as Api.SpanKind,
          startTime: span.startedAt,
          attributes: span.attributes as Api.Attributes,
        },
        parent,
      );
      if (span.status !== undefined) started.setStatus(span.status as Api.SpanStatus);
      started.end(span.endedAt);
      const context = api.trace.setSpan(parent, started);
      made.set(span.spanId, context);
      return context;
    };
    for (const span of waiting.values()) contextOf(span);
  }

  const flushSafely = (): Promise<void> =>
    flush().catch((error: unknown) => parts.lost(1, error instanceof Error ? error.message : String(error)));

  return {
    add(item) {
      if (!queue.push(item)) parts.lost(1, `its queue of ${parts.queueSize} is full`);
      cancelTimer ??= parts.clock.after(parts.delayMs, () => void flushSafely(), { background: true });
    },
    async close() {
      cancelTimer?.();
      if (queue.size > 0) await flushSafely();
    },
  };
}

/** The context of a span whose parent is the application's, or another program's. */
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
