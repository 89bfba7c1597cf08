import type { Surroundings } from "../../surroundings.ts";
import { createTraceIds } from "../../../execute/trace-ids.ts";
import { createEgress } from "../../../guard/egress/egress.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { systemClock } from "../../../observe/clock.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import { hasHostTracer } from "../../../observe/host-span.ts";
import { isAtLeast } from "../../../observe/levels.ts";
import type { MetricRegistry } from "../../../observe/metrics/registry.ts";
import type { Sink } from "../../../observe/sink.port.ts";
import { createLookout } from "../../../state/lookout.ts";
import { clip, withinLimits } from "./attributes.ts";
import { createExporter, type Exporter } from "./exporter.ts";
import { createHostTracer } from "./host-tracer.ts";
import { createJsonWriter } from "./json.ts";
import { toLogRecord } from "./logs.ts";
import { toMetrics } from "./metrics.ts";
import type { Signal, Span } from "./otlp.ts";
import { createProtobufWriter } from "./protobuf.ts";
import { config, type OpenTelemetrySinkOptions, packageVersion, resolveSettings } from "./settings.ts";
import { isSpanName, isSpanned, toSpans } from "./spans.ts";

export { config, type OpenTelemetrySinkOptions };
export { checkCollector as check } from "./check.ts";

/** The dependencies of the sink. All are optional, because a standalone program has no arsenal. */
type ExportParts = Partial<Surroundings> & {
  /** Returns a number in [0, 1) that spreads retries. Defaults to `Math.random`. */
  readonly random?: () => number;
};

const REPORT_EVERY_MS = 60_000;
/** The time limit of closing. Shorter than the arsenal's wait for a sink. */
const CLOSE_MS = 4000;
/** Longer texts of a buffered event are cut. */
const MAX_WAITING_TEXT = 4096;

/**
 * Sends traces, logs and the arsenal's metrics to an OpenTelemetry collector by OTLP over HTTP. Works in batches, outside the path of calls. Drops
 * the oldest events if the collector cannot keep up.
 *
 * @example
 * new ToolArsenal({ sinks: [openTelemetrySink({ otlp: { endpoint: "http://localhost:4318" } })] });
 */
export function openTelemetrySink(options: OpenTelemetrySinkOptions = {}, around: ExportParts = {}): Sink {
  const { level = "warn" } = options;
  const { clock = systemClock, secrets = createSecrets(), random = Math.random, emit = () => {} } = around;
  const settings = resolveSettings(options, around.environment ?? process.env);
  const { limits, captureContent, queueSize, batchSize, delayMs, targets } = settings;
  // The fork has its own connections, which are still needed after the rest of the arsenal has closed.
  const egress = around.egress?.fork() ?? createEgress();
  const { spanId } = createTraceIds();
  const sender = {
    resource: withinLimits(settings.resource, limits),
    scope: { name: "toolarsenal", version: packageVersion() },
  };
  let dropped = 0;
  let problem = "";
  const droppedBySignal = new Map<Signal, number>();
  let reportedAt = Number.NEGATIVE_INFINITY;

  function lost(items: number, why: string): void {
    dropped += items;
    problem = why;
    if (clock.now() - reportedAt >= REPORT_EVERY_MS) report();
  }

  function report(): void {
    reportedAt = clock.now();
    emit("sink-failed", { sink: "opentelemetry", message: problem, dropped });
    dropped = 0;
  }

  function exporterOf<Item>(
    signal: Signal,
    sizes: {
      readonly queueSize: number;
      readonly batchSize: number;
      readonly delayMs: number;
      readonly isCumulative?: boolean;
    },
    toItems: (item: Item) => readonly object[],
  ): Exporter<Item> | undefined {
    const target = targets[signal];
    if (target === undefined) return undefined;
    const writer = (target.protocol === "http/json" ? createJsonWriter : createProtobufWriter)(signal, sender);
    return createExporter({
      target,
      ...sizes,
      encode: (items: readonly Item[]) => writer.encode(items.flatMap(toItems)),
      join: writer.join,
      secrets,
      egress,
      clock,
      random,
      lost(items, why) {
        droppedBySignal.set(signal, (droppedBySignal.get(signal) ?? 0) + items);
        lost(items, why);
      },
    });
  }

  const ofEvents = { queueSize, batchSize, delayMs };
  const spansOf = (event: ArsenalEvent): readonly Span[] =>
    isSpanned(event) ? toSpans(event, { limits, captureContent, spanId }) : [];
  const traces = exporterOf("traces", ofEvents, spansOf);
  const { version } = sender.scope;
  const host = createHostTracer({ toSpans: spansOf, version, queueSize, delayMs, clock, lost });
  const logs = exporterOf("logs", ofEvents, (event: ArsenalEvent) => [toLogRecord(event, limits)]);

  // Metrics are read periodically. The next reading includes a reading that was not sent in time, and replaces it.
  const ofReadings = { queueSize: 1, batchSize: 1, delayMs, isCumulative: true };
  const metrics = around.metrics && exporterOf("metrics", ofReadings, (reading: readonly object[]) => reading);
  const startedAt = clock.now();
  const counted = metrics && around.metrics?.().then(countDrops, () => undefined);
  const readings = metrics && createLookout(clock, settings.metricsDelayMs, read);

  function countDrops(registry: MetricRegistry): MetricRegistry {
    const total = registry.counter("toolarsenal_otlp_dropped_total", "Events that no collector got.", ["signal"]);
    registry.onCollect(() => {
      for (const [signal, items] of droppedBySignal) total.set(items, signal);
    });
    return registry;
  }

  async function read(): Promise<void> {
    const families = await (await counted)?.collect();
    if (families !== undefined) metrics?.add(toMetrics(families, { startedAt, readAt: clock.now() }, limits));
  }

  return {
    name: "opentelemetry",
    wants: (name, own) => (traces !== undefined && isSpanName(name)) || (logs !== undefined && isAtLeast(own, level)),
    write(events) {
      // If the application has its own tracer provider, it receives the spans.
      const spans = traces === undefined || !hasHostTracer() ? traces : host;
      for (const event of events) {
        if (spans !== undefined && isSpanned(event)) spans.add(bounded(event));
        if (logs !== undefined && isAtLeast(event.level, level)) logs.add(bounded(event));
      }
    },
    async close() {
      readings?.stop();
      await read().catch(() => {});
      await host.close();
      await Promise.all([traces?.close(CLOSE_MS), logs?.close(CLOSE_MS), metrics?.close(CLOSE_MS)]);
      if (dropped > 0) report();
      egress.close();
    },
  };
}

/** Limits the size of a buffered event, because only the number of events is limited otherwise. */
function bounded<Event extends ArsenalEvent>(event: Event): Event {
  const { message, query } = event.data as { readonly message?: unknown; readonly query?: unknown };
  const isLong = (text: unknown): text is string => typeof text === "string" && text.length > MAX_WAITING_TEXT;
  if (!isLong(message) && !isLong(query)) return event;
  const cut = {
    ...(isLong(message) && { message: clip(message, MAX_WAITING_TEXT) }),
    ...(isLong(query) && { query: clip(query, MAX_WAITING_TEXT) }),
  };
  return { ...event, data: { ...event.data, ...cut } };
}

export function create(settings: OpenTelemetrySinkOptions, surroundings: Surroundings): Sink {
  return openTelemetrySink(settings, surroundings);
}
