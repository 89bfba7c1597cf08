import type { MetricFamily, Series } from "../../../observe/metrics/registry.ts";
import { type AttributeLimits, withinLimits } from "./attributes.ts";
import { CUMULATIVE } from "./otlp.ts";

/** Unit suffixes of Prometheus names, with OpenTelemetry's units. */
const UNITS: Readonly<Record<string, string>> = { _seconds: "s", _bytes: "By" };

/** Converts the arsenal's metrics to OTLP: `toolarsenal_call_duration_seconds` becomes `toolarsenal.call_duration` with the unit `s`. */
export function toMetrics(
  families: readonly MetricFamily[],
  times: { readonly startedAt: number; readonly readAt: number },
  limits: AttributeLimits,
): readonly object[] {
  const pointOf = ({ labels }: Series): object => {
    const named = Object.entries(labels).map(([label, value]) => [`toolarsenal.${label}`, value] as const);
    return { ...times, attributes: withinLimits(Object.fromEntries(named), limits).attributes };
  };
  return families
    .filter(({ series }) => series.length > 0)
    .map(({ name, help, type, series }) => {
      const about = { ...nameAndUnit(name), description: help };
      const dataPoints = series.map((one) => ({
        ...pointOf(one),
        ...("value" in one ? { asDouble: one.value } : bucketsOf(one)),
      }));
      switch (type) {
        case "gauge":
          return { ...about, gauge: { dataPoints } };
        case "counter":
          return { ...about, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
        case "histogram":
          return { ...about, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
      }
    });
}

function bucketsOf({ count, sum, buckets }: Exclude<Series, { readonly value: number }>): object {
  const above = count - buckets.reduce((all, bucket) => all + bucket.count, 0);
  const bucketCounts = [...buckets.map((bucket) => bucket.count), above];
  return { count, sum, bucketCounts, explicitBounds: buckets.map(({ upTo }) => upTo) };
}

function nameAndUnit(name: string): { readonly name: string; readonly unit: string } {
  const plain = name.replace(/_total$/, "");
  const [suffix = ""] = /_(?:seconds|bytes)$/.exec(plain) ?? [];
  const own = plain.slice(0, plain.length - suffix.length).replace(/^toolarsenal_/, "");
  return { name: `toolarsenal.${own}`, unit: UNITS[suffix] ?? "1" };
}
