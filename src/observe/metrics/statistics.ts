import type { Clock } from "../clock.ts";
import type { ArsenalEvent } from "../events.ts";
import { NONE, type Prices } from "./arsenal-metrics.ts";
import { type HistogramSeries, type MetricFamily, type NumberSeries, OTHER } from "./registry.ts";

/** The statistics of one process since its start, for one tenant or all. Statistics for one tenant omit process-wide figures. */
export interface Statistics {
  /** When counting began, in milliseconds since the epoch. */
  readonly since: number;
  readonly calls: number;
  /** Calls that neither succeeded nor wait for an approval. */
  readonly errors: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** The duration of calls that ran. */
  readonly callMs: Percentiles;
  readonly retrievals: number;
  readonly retrievalMs: Percentiles;
  /** Estimated tokens of definitions: returned by retrievals, saved by not sending everything, and of the whole catalog. */
  readonly tokens: {
    readonly returned: number;
    readonly saved: number;
    readonly catalog?: number;
    /** The cost of the saved tokens. Omitted if no price is configured. */
    readonly savedCost?: number;
  };
  /** The cost of calls, as tools declare it. */
  readonly cost: number;
  /** The currency of every cost, as an ISO 4217 code. Omitted if none is configured. */
  readonly currency?: string;
  /** True if this tenant's calls are counted together with those of other tenants, so the figures are too low. */
  readonly folded?: true;
  readonly running?: number;
  readonly waiting?: number;
  readonly approvalsPending?: number;
  readonly droppedEvents?: number;
  /** The last hour, oldest first, including minutes without calls. */
  readonly minutes?: readonly Minute[];
}

/** Percentiles, estimated from the buckets of a histogram. Omitted without data. */
export interface Percentiles {
  readonly p50?: number;
  readonly p95?: number;
}

export interface Minute {
  /** The start of the minute, in milliseconds since the epoch. */
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  /** The 95th percentile over calls that ran. Omitted if none did. */
  readonly p95Ms?: number;
}

const MINUTE_MS = 60_000;
const KEPT = 60;

/** Upper bounds of latencies in milliseconds, in steps of 20 %, from 1 ms to more than 5 minutes. */
const BOUNDS = Array.from({ length: 71 }, (_, step) => 1.2 ** step);

/** Counts the calls of each minute of the last hour, in constant memory. */
export function createRecentMinutes(clock: Pick<Clock, "now">) {
  const slots = Array.from({ length: KEPT }, () => ({
    minute: -1,
    calls: 0,
    errors: 0,
    /** The number of latencies in each bucket. The last bucket is for values above every bound. */
    latencies: new Uint32Array(BOUNDS.length + 1),
  }));

  return {
    record({ name, at, data }: ArsenalEvent): void {
      if (name !== "call-finished") return;
      const minute = Math.floor(at / MINUTE_MS);
      const slot = slots[minute % KEPT];
      // Ignores an event that is more than an hour late.
      if (slot === undefined || minute < slot.minute) return;
      if (minute > slot.minute) {
        Object.assign(slot, { minute, calls: 0, errors: 0 });
        slot.latencies.fill(0);
      }
      slot.calls++;
      if (isError(data.status)) slot.errors++;
      if (data.attempts === 0) return;
      const bucket = BOUNDS.findIndex((bound) => data.latencyMs <= bound);
      const index = bucket === -1 ? BOUNDS.length : bucket;
      slot.latencies[index] = (slot.latencies[index] ?? 0) + 1;
    },
    read(): readonly Minute[] {
      const now = Math.floor(clock.now() / MINUTE_MS);
      return Array.from({ length: KEPT }, (_, index) => {
        const minute = now - KEPT + 1 + index;
        const slot = slots[((minute % KEPT) + KEPT) % KEPT];
        const at = minute * MINUTE_MS;
        if (slot?.minute !== minute) return { at, calls: 0, errors: 0 };
        const p95Ms = quantile(
          0.95,
          BOUNDS.map((upTo, bucket) => ({ upTo, count: slot.latencies[bucket] ?? 0 })),
          slot.latencies.reduce((sum, count) => sum + count, 0),
        );
        return { at, calls: slot.calls, errors: slot.errors, ...(p95Ms !== undefined && { p95Ms }) };
      });
    },
  };
}

interface StatisticsOptions extends Required<Pick<Statistics, "since" | "minutes">> {
  readonly prices?: Prices | undefined;
  readonly tenant?: string | undefined;
}

function isError(status: string): boolean {
  return status !== "success" && status !== "pending_confirmation";
}

/** Computes statistics from the metrics, for one tenant if given. */
export function toStatistics(
  families: readonly MetricFamily[],
  { since, minutes, prices, tenant }: StatisticsOptions,
): Statistics {
  const isReserved = tenant === OTHER || tenant === NONE;
  const allSeriesOf = (name: string): MetricFamily["series"] =>
    families.find((family) => family.name === `toolarsenal_${name}`)?.series ?? [];
  const seriesOf = (name: string): MetricFamily["series"] =>
    tenant === undefined
      ? allSeriesOf(name)
      : allSeriesOf(name).filter(({ labels }) => labels["tenant"] === tenant && !isReserved);
  const numbers = (name: string): readonly NumberSeries[] => seriesOf(name).filter((one) => "value" in one);
  const sum = (name: string): number => numbers(name).reduce((total, { value }) => total + value, 0);
  const histogram = (name: string): Percentiles & { readonly count: number } =>
    merged(seriesOf(name).filter((one) => "buckets" in one));

  const byStatus: Record<string, number> = {};
  for (const { labels, value } of numbers("calls_total")) {
    const { status = "" } = labels;
    byStatus[status] = (byStatus[status] ?? 0) + value;
  }
  const { count: _, ...callMs } = histogram("call_duration_seconds");
  const { count: retrievals, ...retrievalMs } = histogram("retrieval_duration_seconds");
  const counted = allSeriesOf("calls_total");
  const isFolded =
    isReserved ||
    counted.some(({ labels }) => labels["status"] === OTHER) ||
    (numbers("calls_total").length === 0 && counted.some(({ labels }) => labels["tenant"] === OTHER));
  const ofProcess = {
    running: sum("calls_running"),
    waiting: sum("calls_waiting"),
    approvalsPending: sum("approvals_pending"),
    droppedEvents: sum("events_dropped_total"),
    minutes,
  };
  return {
    since,
    calls: sum("calls_total"),
    errors: Object.entries(byStatus).reduce((total, [status, count]) => total + (isError(status) ? count : 0), 0),
    byStatus,
    callMs,
    retrievals,
    retrievalMs,
    // A tool can declare a fraction of a token as its cost.
    tokens: {
      returned: Math.round(sum("retrieval_tokens_total")),
      saved: Math.round(sum("retrieval_tokens_saved_total")),
      ...(tenant === undefined && { catalog: Math.round(sum("catalog_tokens")) }),
      ...(prices?.perMillionInputTokens !== undefined && { savedCost: sum("retrieval_cost_saved_total") }),
    },
    cost: sum("call_cost_total"),
    ...(prices !== undefined && { currency: prices.currency }),
    ...(tenant === undefined ? ofProcess : isFolded && { folded: true }),
  };
}

/** The percentiles over all series of a histogram, in milliseconds. */
function merged(series: readonly HistogramSeries[]): Percentiles & { readonly count: number } {
  const count = series.reduce((sum, one) => sum + one.count, 0);
  const buckets = (series[0]?.buckets ?? []).map(({ upTo }, index) => ({
    upTo: upTo * 1_000,
    count: series.reduce((sum, one) => sum + (one.buckets[index]?.count ?? 0), 0),
  }));
  const [p50, p95] = [quantile(0.5, buckets, count), quantile(0.95, buckets, count)];
  return { count, ...(p50 !== undefined && { p50 }), ...(p95 !== undefined && { p95 }) };
}

/** Estimates a quantile like Prometheus: values are spread evenly in their bucket, and values above every bound count as the highest bound. */
function quantile(
  share: number,
  buckets: readonly { readonly upTo: number; readonly count: number }[],
  total: number,
): number | undefined {
  if (total === 0) return undefined;
  const rank = share * total;
  let [below, from] = [0, 0];
  for (const { upTo, count } of buckets) {
    if (count > 0 && below + count >= rank) return from + ((upTo - from) * (rank - below)) / count;
    below += count;
    from = upTo;
  }
  return from;
}
