import { type Answer, firstRank } from "./answer.ts";
import { type BootstrapOptions, pairedBootstrap, RESAMPLES, SEED } from "./bootstrap.ts";
import { FIGURES, round } from "./metrics.ts";
import type { SetReport } from "./summarise.ts";

/** One figure of two runs over the same queries. */
export interface ComparedFigure {
  readonly a: number;
  readonly b: number;
  /** B less A, with the interval that holds it 95 times in 100. */
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  /** Queries on which B is better, worse, and no different. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

/** A query that the two runs answer differently. Ranks are those of the first tool that serves it; null where none is ranked. */
export interface ChangedQuery {
  readonly id: string;
  readonly query: string;
  readonly a_rank: number | null;
  readonly b_rank: number | null;
  readonly difference: number;
}

/** What a run was made with. */
export interface RunName {
  readonly config: string | null;
  readonly tier: string;
}

/** Two runs over the same queries. Figures are named as in the report. */
export interface Comparison {
  readonly a: RunName;
  readonly b: RunName & { readonly report: SetReport };
  readonly resamples: number;
  readonly seed: number;
  readonly figures: Readonly<Record<string, ComparedFigure>>;
  /** Most changed first, by NDCG@10. */
  readonly changed: readonly ChangedQuery[];
}

const MOST_CHANGED = 20;

interface Measure {
  readonly name: string;
  /** −1 where less is better. */
  readonly sign: 1 | -1;
  readonly of: (answer: Answer) => number;
}

const RANKING: readonly Measure[] = [
  ...FIGURES.map((name): Measure => ({ name, sign: 1, of: ({ figures }) => figures?.[name] ?? 0 })),
  { name: "false_refused", sign: -1, of: ({ refused }) => Number(refused) },
];

const REFUSAL: readonly Measure[] = [{ name: "refused", sign: 1, of: ({ refused }) => Number(refused) }];

/** Every figure of two runs side by side, with the interval of its difference. Both have answered the same queries in the same order. */
export async function compareAnswers(
  a: readonly Answer[],
  b: readonly Answer[],
  options: BootstrapOptions = {},
): Promise<Pick<Comparison, "resamples" | "seed" | "figures" | "changed">> {
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
    changed: changedQueries(possible),
  };
}

interface Pair {
  readonly a: Answer;
  readonly b: Answer;
}

async function compareFigures(
  pairs: readonly Pair[],
  measures: readonly Measure[],
  options: BootstrapOptions,
): Promise<readonly (readonly [string, ComparedFigure])[]> {
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
        difference: plain(mean),
        low: plain(low),
        high: plain(high),
        wins,
        losses,
        ties: pairs.length - wins - losses,
      },
    ] as const;
  });
}

/** To four digits, and never −0. */
function plain(value: number): number {
  return round(value) || 0;
}

function changedQueries(pairs: readonly Pair[]): readonly ChangedQuery[] {
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
