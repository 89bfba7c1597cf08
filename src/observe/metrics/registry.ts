/** Metrics by name and labels, shared by all exporters. */
export type MetricRegistry = ReturnType<typeof createMetricRegistry>;

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly series: readonly Series[];
}

export type Labels = Readonly<Record<string, string>>;

export type Series = NumberSeries | HistogramSeries;

export interface NumberSeries {
  readonly labels: Labels;
  readonly value: number;
}

export interface HistogramSeries {
  readonly labels: Labels;
  readonly count: number;
  readonly sum: number;
  /** The buckets. `upTo` is an upper bound (ascending, without infinity); `count` is the number of values in that bucket alone. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
}

interface RegistryLimits {
  /** The number of values per label that get their own series. Later values count as `other`. Defaults to 50. */
  readonly maxValues?: number;
  /** The maximum number of series per metric. Later combinations count as `other` in every label. Defaults to 1,000. */
  readonly maxSeries?: number;
}

/** The label for values beyond the limits. */
export const OTHER = "other";

/** Creates an empty registry. Its size is bounded for any labels. */
export function createMetricRegistry({ maxValues = 50, maxSeries = 1_000 }: RegistryLimits = {}) {
  const families: { readonly name: string; read(): MetricFamily }[] = [];
  const collectors: (() => void | Promise<void>)[] = [];
  /** Shared by all metrics, so that a tenant has a series in all of them or in none. */
  const known = new Map<string, Set<string>>();
  let collecting: Promise<readonly MetricFamily[]> | undefined;

  const folded = counter(
    "toolarsenal_metrics_folded_total",
    "Samples counted as other, to bound the number of series.",
    ["label"],
  );

  function bounded(label: string, value: string): string {
    let values = known.get(label);
    if (values === undefined) known.set(label, (values = new Set()));
    if (values.size < maxValues) values.add(value);
    if (values.has(value)) return value;
    if (value !== OTHER) folded.add(1, label);
    return OTHER;
  }

  /** Declares a metric. Returns functions that find the series of label values and remove all series. */
  function declare<Kept>(
    { name, help, type, labels }: Pick<MetricFamily, "name" | "help" | "type"> & { readonly labels: readonly string[] },
    create: () => Kept,
    read: (kept: Kept, labels: Labels) => Series,
  ): { readonly of: (values: readonly string[]) => Kept; readonly clear: () => void } {
    if (families.some((family) => family.name === name)) throw new Error(`The metric ${name} is declared twice.`);
    const series = new Map<string, { readonly labels: Labels; readonly kept: Kept }>();

    function seriesOf(values: readonly string[]): Kept {
      const key = values.join("\0");
      const found = series.get(key);
      if (found !== undefined) return found.kept;
      const named: readonly (readonly [string, string])[] = labels.map((label, at) => [label, values[at] ?? ""]);
      return add(named.map(([label, value]) => [label, bounded(label, value)]));
    }

    function add(named: readonly (readonly [string, string])[]): Kept {
      const key = named.map(([, value]) => value).join("\0");
      const found = series.get(key);
      if (found !== undefined) return found.kept;
      if (series.size >= maxSeries && named.some(([, value]) => value !== OTHER)) {
        folded.add(1, "any");
        return add(named.map(([label]) => [label, OTHER]));
      }
      const kept = create();
      series.set(key, { labels: Object.fromEntries(named), kept });
      return kept;
    }

    families.push({
      name,
      read: () => ({ name, help, type, series: Array.from(series.values(), (one) => read(one.kept, one.labels)) }),
    });
    // A metric without labels exists from the start, so that its absence always means a problem.
    if (labels.length === 0) seriesOf([]);
    return { of: seriesOf, clear: () => series.clear() };
  }

  /** Declares a number that only grows. `name` must end in `_total`. Values are in the order of the labels. */
  function counter(name: string, help: string, labels: readonly string[] = []) {
    const { of } = declare({ name, help, type: "counter", labels }, createNumber, readNumber);
    return {
      add: (value: number, ...values: readonly string[]): void => void (of(values).value += value),
      /** Sets a total that is counted elsewhere. */
      set: (total: number, ...values: readonly string[]): void => void (of(values).value = total),
    };
  }

  async function collect(): Promise<readonly MetricFamily[]> {
    await Promise.allSettled(collectors.map(async (collector) => collector()));
    return families.map(({ read }) => read());
  }

  return {
    counter,
    /** Declares a number that goes up and down. `clear` removes every series. */
    gauge(name: string, help: string, labels: readonly string[] = []) {
      const { of, clear } = declare({ name, help, type: "gauge", labels }, createNumber, readNumber);
      return { set: (value: number, ...values: readonly string[]): void => void (of(values).value = value), clear };
    },
    /** Declares a distribution over fixed buckets. The upper bounds are ascending, without infinity. */
    histogram(name: string, help: string, labels: readonly string[], bounds: readonly number[]) {
      const { of } = declare(
        { name, help, type: "histogram", labels },
        () => ({ counts: new Float64Array(bounds.length), count: 0, sum: 0 }),
        ({ counts, count, sum }, shown) => ({
          labels: shown,
          count,
          sum,
          buckets: bounds.map((upTo, at) => ({ upTo, count: counts[at] ?? 0 })),
        }),
      );
      return {
        /** Adds empty series for these label values, so that they exist before the first observation. */
        start: (...values: readonly string[]): void => void of(values),
        observe(value: number, ...values: readonly string[]): void {
          const kept = of(values);
          kept.count++;
          kept.sum += value;
          const at = bounds.findIndex((upTo) => value <= upTo);
          if (at !== -1) kept.counts[at] = (kept.counts[at] ?? 0) + 1;
        },
      };
    },
    /** Calls `collector` before every collection, to compute metrics. If a callback rejects, its metrics stay unchanged. */
    onCollect: (collector: () => void | Promise<void>): void => void collectors.push(collector),
    /** Reads every metric, in the order of declaration. Concurrent collections share one run. */
    collect: (): Promise<readonly MetricFamily[]> => (collecting ??= collect().finally(() => (collecting = undefined))),
  };
}

const createNumber = (): { value: number } => ({ value: 0 });
const readNumber = ({ value }: { readonly value: number }, labels: Labels): NumberSeries => ({ labels, value });
