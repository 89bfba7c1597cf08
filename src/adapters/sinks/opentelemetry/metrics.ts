import type { MetricFamily, Series } from "../../../observe/metrics/registry.ts";
import { type AttributeLimits, toKeyValues } from "./attributes.ts";
import { CUMULATIVE, type KeyValue, type Metric, toNanos } from "./otlp.ts";

/** Units that the names of Prometheus end in, as OpenTelemetry writes them. */
const UNITS: Readonly<Record<string, string>> = { _seconds: "s", _bytes: "By" };

/** When counting began, and when the numbers were read, in milliseconds since the epoch. */
export interface ReadTimes {
  readonly startedAt: number;
  readonly readAt: number;
}

/** The arsenal's metrics as OTLP has them: `toolarsenal_call_duration_seconds` is `toolarsenal.call_duration`, with the unit `s`. */
export function toMetrics(
  families: readonly MetricFamily[],
  times: ReadTimes,
  limits: AttributeLimits,
): readonly Metric[] {
  return families.filter(({ series }) => series.length > 0).map((family) => toMetric(family, times, limits));
}

function toMetric({ name, help, type, series }: MetricFamily, times: ReadTimes, limits: AttributeLimits): Metric {
  const about = { ...nameAndUnit(name), description: help };
  const point = pointOf(times, limits);
  const dataPoints = series.flatMap((one) => ("value" in one ? [{ ...point(one), asDouble: one.value }] : []));
  switch (type) {
    case "gauge":
      return { ...about, gauge: { dataPoints } };
    case "counter":
      return { ...about, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
    case "histogram":
      return {
        ...about,
        histogram: {
          aggregationTemporality: CUMULATIVE,
          dataPoints: series.flatMap((one) => {
            if ("value" in one) return [];
            const { count, sum, buckets } = one;
            const above = count - buckets.reduce((all, bucket) => all + bucket.count, 0);
            return [
              {
                ...point(one),
                count: String(count),
                sum,
                bucketCounts: [...buckets.map((bucket) => String(bucket.count)), String(above)],
                explicitBounds: buckets.map(({ upTo }) => upTo),
              },
            ];
          }),
        },
      };
  }
}

function nameAndUnit(name: string): { readonly name: string; readonly unit: string } {
  const plain = name.replace(/_total$/, "");
  const [suffix = ""] = /_(?:seconds|bytes)$/.exec(plain) ?? [];
  const own = plain.slice(0, plain.length - suffix.length).replace(/^toolarsenal_/, "");
  return { name: `toolarsenal.${own}`, unit: UNITS[suffix] ?? "1" };
}

function pointOf(
  { startedAt, readAt }: ReadTimes,
  limits: AttributeLimits,
): (series: Series) => {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
} {
  const times = { startTimeUnixNano: toNanos(startedAt), timeUnixNano: toNanos(readAt) };
  return ({ labels }) => {
    const named = Object.fromEntries(
      Object.entries(labels).map(([label, value]) => [`toolarsenal.${label}`, value] as const),
    );
    return { ...times, attributes: toKeyValues(named, limits).attributes };
  };
}
