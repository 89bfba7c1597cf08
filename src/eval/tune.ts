import type { RoutingConfig } from "../config/config.ts";
import { DEFAULT_SETTINGS } from "../retrieve/settings.ts";
import type { AnsweredQuery } from "./answer.ts";
import { compareAnswers } from "./compare.ts";
import { createRandom } from "./random.ts";

/** Ranking settings to try, as in `routing`. */
export interface Candidate {
  readonly weights: { readonly intent: number };
  readonly enableMmr: boolean;
  readonly mmrLambda: number;
}

const INTENT = [0, 0.05, 0.1, 0.15, 0.25, 0.35];
/** Values of `mmrLambda`. Undefined disables diversity. */
const VARIETY = [0.7, 0.85, undefined];

/** With fewer queries, the result would not generalise. */
export const LEAST_QUERIES = 20;
const FOLDS = 5;
const SEED = 29;

/** Returns the settings to compare, the current ones first: combinations of the weight of the intent and the amount of diversity. */
export function candidatesFor({ weights = {}, enableMmr, mmrLambda }: RoutingConfig): readonly Candidate[] {
  const current: Candidate = {
    weights: { intent: weights.intent ?? DEFAULT_SETTINGS.weights.intent },
    enableMmr: enableMmr ?? DEFAULT_SETTINGS.enableMmr,
    mmrLambda: mmrLambda ?? DEFAULT_SETTINGS.mmrLambda,
  };
  const others = INTENT.flatMap((intent) =>
    VARIETY.map((lambda): Candidate => {
      return { weights: { intent }, enableMmr: lambda !== undefined, mmrLambda: lambda ?? current.mmrLambda };
    }),
  );
  return [current, ...others.filter((other) => JSON.stringify(other) !== JSON.stringify(current))];
}

export interface Tuning {
  /** The best settings over all queries. */
  readonly best: Candidate;
  readonly isCurrent: boolean;
  /** True if settings that were chosen on some queries significantly improve the ranking of other queries. */
  readonly helps: boolean;
  /** The figures with the current settings (a) and with settings chosen without the query in question (b). */
  readonly figures: Awaited<ReturnType<typeof compareAnswers>>["figures"];
  readonly queries: number;
  readonly candidates: number;
}

/**
 * Chooses the best candidate by NDCG@10, and estimates the gain by cross-validation: each fifth of the queries is ranked with the settings that are
 * best for the other four. `answers` has one list per candidate, in the order of the queries.
 */
export async function tune(
  candidates: readonly Candidate[],
  answers: readonly (readonly AnsweredQuery[])[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<Tuning> {
  const [current = []] = answers;
  const folds = foldsOf(current.length);
  const preferred = Array.from({ length: FOLDS }, (_, fold) => bestOf(answers, (query) => folds[query] !== fold));
  const chosen = current.map((answer, query) => answers[preferred[folds[query] ?? 0] ?? 0]?.[query] ?? answer);
  const best = bestOf(answers, () => true);
  const { figures } = await compareAnswers(current, chosen, options);
  return {
    best: candidates[best] as Candidate,
    isCurrent: best === 0,
    helps: best !== 0 && (figures["ndcg@10"]?.low ?? 0) > 0,
    figures,
    queries: current.length,
    candidates: candidates.length,
  };
}

/** Assigns each query to a fold of nearly equal size. Deterministic for a number of queries. */
function foldsOf(queries: number): readonly number[] {
  const random = createRandom(SEED);
  const order = Array.from({ length: queries }, (_, query) => ({ query, key: random() })).sort((a, b) => a.key - b.key);
  const folds = new Map(order.map(({ query }, place) => [query, place % FOLDS]));
  return Array.from({ length: queries }, (_, query) => folds.get(query) ?? 0);
}

/** Returns the candidate with the best mean over some queries, or the first if several are equal. */
function bestOf(answers: readonly (readonly AnsweredQuery[])[], counts: (query: number) => boolean): number {
  const totals = answers.map((own) =>
    own.reduce((sum, { figures }, query) => (counts(query) ? sum + (figures?.["ndcg@10"] ?? 0) : sum), 0),
  );
  // A gain within rounding does not count.
  return totals.reduce((best, total, index) => (total > (totals[best] ?? 0) + 1e-9 ? index : best), 0);
}
