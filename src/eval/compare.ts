import { type AnsweredQuery, firstRank } from "./answer.ts";
import { type BootstrapOptions, pairedBootstrap, RESAMPLES, SEED } from "./bootstrap.ts";
import { FIGURES, round } from "./metrics.ts";
import type { SetReport } from "./summarise.ts";

interface RunName {
  readonly config: string | null;
  readonly tier: string;
}

/** A comparison of two runs over the same queries. Figures have the names of the report. */
export interface Comparison extends Awaited<ReturnType<typeof compareAnswers>> {
  readonly a: RunName;
  readonly b: RunName & { readonly report: SetReport };
}

const MOST_CHANGED = 20;

interface Measure {
  readonly name: string;
  /** −1 if smaller is better. */
  readonly sign: 1 | -1;
  readonly of: (answer: AnsweredQuery) => number;
}

const RANKING: readonly Measure[] = [
  ...FIGURES.map((name): Measure => ({ name, sign: 1, of: ({ figures }) => figures?.[name] ?? 0 })),
  { name: "false_refused", sign: -1, of: ({ refused }) => Number(refused) },
];

const REFUSAL: readonly Measure[] = [{ name: "refused", sign: 1, of: ({ refused }) => Number(refused) }];

/** Compares every figure of two runs, with the interval of the difference. Both runs must have the same queries in the same order. */
export async function compareAnswers(
  a: readonly AnsweredQuery[],
  b: readonly AnsweredQuery[],
  options: BootstrapOptions = {},
) {
  const pairs = a.flatMap((first, index): readonly Pair[] => {
    const second = b[index];
    return second ? [{ a: first, b: second }] : [];
  });
  const possible = pairs.filter((pair) => pair.a.figures !== undefined);
  const impossible = pairs.filter((pair) => pair.a.figures === undefined);
  return {
    resamples: options.resamples ?? RESAMPLES,
    seed: options.seed ?? SEED,
    figures: Object.fromEntries([
      ...(await compareFigures(possible, RANKING, options)),
      ...(await compareFigures(impossible, REFUSAL, options)),
    ]),
    /** Ordered by the change of NDCG@10, largest first. */
    changed: changedQueries(possible),
  };
}

interface Pair {
  readonly a: AnsweredQuery;
  readonly b: AnsweredQuery;
}

async function compareFigures(pairs: readonly Pair[], measures: readonly Measure[], options: BootstrapOptions) {
  if (pairs.length === 0) return [];
  const differences = measures.map(({ of }) => Float64Array.from(pairs, ({ a, b }) => of(b) - of(a)));
  const intervals = await pairedBootstrap(differences, options);
  return measures.map(({ name, sign, of }, index) => {
    const { mean, low, high } = intervals[index] ?? { mean: 0, low: 0, high: 0 };
    const signs = [...(differences[index] ?? [])].map((difference) => Math.sign(difference) * sign);
    const average = (side: "a" | "b"): number =>
      round(pairs.reduce((sum, pair) => sum + of(pair[side]), 0) / pairs.length);
    const wins = signs.filter((value) => value > 0).length;
    const losses = signs.filter((value) => value < 0).length;
    return [
      name,
      {
        a: average("a"),
        b: average("b"),
        // B minus A, with the 95 % interval.
        difference: plain(mean),
        low: plain(low),
        high: plain(high),
        // The numbers of queries on which B is better, worse, and equal.
        wins,
        losses,
        ties: pairs.length - wins - losses,
      },
    ] as const;
  });
}

/** Rounds to four digits, and avoids −0. */
function plain(value: number): number {
  return round(value) || 0;
}

/** Lists the queries that the two runs answer differently, with the ranks of the first relevant tool; null if none is ranked. */
function changedQueries(pairs: readonly Pair[]) {
  return pairs
    .map(({ a, b }) => ({
      a,
      b,
      difference: plain((b.figures?.["ndcg@10"] ?? 0) - (a.figures?.["ndcg@10"] ?? 0)),
      reciprocal: (b.figures?.mrr ?? 0) - (a.figures?.mrr ?? 0),
    }))
    .filter(({ difference, reciprocal }) => difference !== 0 || reciprocal !== 0)
    .toSorted(
      (one, other) =>
        Math.abs(other.difference) - Math.abs(one.difference) || Math.abs(other.reciprocal) - Math.abs(one.reciprocal),
    )
    .slice(0, MOST_CHANGED)
    .map(({ a, b, difference }) => ({
      id: a.id,
      query: a.query,
      a_rank: firstRank(a) ?? null,
      b_rank: firstRank(b) ?? null,
      difference,
    }));
}
