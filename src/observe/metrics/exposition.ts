import type { HistogramSeries, Labels, MetricFamily, Series } from "./registry.ts";

/** The two formats that Prometheus reads. */
export type Exposition = "text" | "openmetrics";

export const CONTENT_TYPES: Readonly<Record<Exposition, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** Chooses the format for an `Accept` header. Prometheus lists OpenMetrics if it supports it; all others get text. */
export function expositionFor(accept: string | undefined): Exposition {
  return accept?.includes("application/openmetrics-text") === true ? "openmetrics" : "text";
}

/** Writes metrics in a format that Prometheus reads. */
export function toExposition(families: readonly MetricFamily[], format: Exposition): string {
  const lines = families.filter(({ series }) => series.length > 0).flatMap((family) => familyLines(family, format));
  return `${[...lines, ...(format === "openmetrics" ? ["# EOF"] : [])].join("\n")}\n`;
}

function familyLines({ name, help, type, series }: MetricFamily, format: Exposition): readonly string[] {
  // In OpenMetrics, the name of a counter has no `_total` suffix.
  const family = format === "openmetrics" && type === "counter" ? name.replace(/_total$/, "") : name;
  const documented = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return [
    `# HELP ${family} ${documented}`,
    `# TYPE ${family} ${type}`,
    ...series.flatMap((one) => seriesLines(name, one, format)),
  ];
}

function seriesLines(name: string, series: Series, format: Exposition): readonly string[] {
  if ("value" in series) return [sample(name, series.labels, series.value)];
  return [
    ...bucketLines(name, series, format),
    sample(`${name}_sum`, series.labels, series.sum),
    sample(`${name}_count`, series.labels, series.count),
  ];
}

/** Formats buckets: cumulative, and the last one without an upper bound. */
function bucketLines(name: string, { labels, buckets, count }: HistogramSeries, format: Exposition): readonly string[] {
  let below = 0;
  const lines = buckets.map(({ upTo, count: own }) => {
    below += own;
    const bound = format === "openmetrics" && Number.isInteger(upTo) ? upTo.toFixed(1) : String(upTo);
    return sample(`${name}_bucket`, { ...labels, le: bound }, below);
  });
  return [...lines, sample(`${name}_bucket`, { ...labels, le: "+Inf" }, count)];
}

function sample(name: string, labels: Labels, value: number): string {
  const shown = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${shown.length === 0 ? "" : `{${shown.join(",")}}`} ${numberText(value)}`;
}

/** Escapes a label's value on one line. Replaces control characters, because dashboards display them. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n")
    .replaceAll(/\p{Cc}/gu, "\uFFFD");
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
