import { setImmediate as nextTurn } from "node:timers/promises";
import { createRandom } from "./random.ts";

/** A mean, and the interval that contains 95 % of the means of resampled queries. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly resamples?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
}

export const RESAMPLES = 10_000;
export const SEED = 20_240_501;

/** The number of draws between turns of the event loop, so that Ctrl-C works. */
const DRAWS_A_TURN = 5_000_000;

/** Returns the mean of each list of paired differences, with its percentile interval. Lists have one entry per query and share the draws. Seeded. */
export async function pairedBootstrap(
  differences: readonly Float64Array[],
  { resamples = RESAMPLES, seed = SEED, signal }: BootstrapOptions = {},
): Promise<readonly Interval[]> {
  const count = differences[0]?.length ?? 0;
  if (count === 0) return differences.map(() => ({ mean: 0, low: 0, high: 0 }));
  const width = differences.length;
  const { rows, kept } = changedRows(differences, count);
  const means = differences.map(() => new Float64Array(resamples));
  const sums = new Float64Array(width);
  const random = createRandom(seed);
  const turn = Math.max(1, Math.floor(DRAWS_A_TURN / count));
  for (let resample = 0; resample < resamples; resample++) {
    if (resample % turn === turn - 1) await nextTurn();
    signal?.throwIfAborted();
    sums.fill(0);
    for (let draw = 0; draw < count; draw++) {
      const row = Math.floor(random() * count);
      if (row >= kept) continue;
      for (let list = 0; list < width; list++) sums[list] = at(sums, list) + at(rows, row * width + list);
    }
    for (const [list, drawn] of means.entries()) drawn[resample] = at(sums, list) / count;
  }
  return differences.map((values, list) => {
    const drawn = (means[list] ?? new Float64Array()).sort();
    const mean = values.reduce((sum, value) => sum + value, 0) / count;
    return { mean, low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
  });
}

/** Returns the queries with a difference, adjacent in memory. All others contribute nothing when drawn. */
function changedRows(
  differences: readonly Float64Array[],
  count: number,
): { readonly rows: Float64Array; readonly kept: number } {
  const changed: number[] = [];
  for (let query = 0; query < count; query++)
    if (differences.some((list) => at(list, query) !== 0)) changed.push(query);
  const rows = new Float64Array(changed.length * differences.length);
  for (const [row, query] of changed.entries())
    for (const [list, values] of differences.entries()) rows[row * differences.length + list] = at(values, query);
  return { rows, kept: changed.length };
}

function at(numbers: Float64Array, index: number): number {
  return numbers[index] ?? 0;
}

/** Returns the smallest value that at least `share` of the sorted numbers do not exceed. */
function quantile(sorted: Float64Array, share: number): number {
  return at(sorted, Math.max(0, Math.ceil(share * sorted.length) - 1));
}
