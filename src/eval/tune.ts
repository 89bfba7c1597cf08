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
/** Undefined switches variety off. */
const VARIETY = [0.7, 0.85, undefined];

/** With fewer queries, the result would not hold for others. */
export const LEAST_QUERIES = 20;
const FOLDS = 5;
const SEED = 29;

/** The settings to compare, the current ones first: the weight of the intent next to the meaning, and the amount of variety. */
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

/** The outcome of tuning. */
export interface Tuning {
  /** The best settings over all queries. */
  readonly best: Candidate;
  readonly isCurrent: boolean;
  /** Whether settings that were chosen on some queries rank the others better, beyond chance. */
  readonly helps: boolean;
  /** The current settings (a) and those chosen without the query in question (b), by figure. */
  readonly figures: Awaited<ReturnType<typeof compareAnswers>>["figures"];
  readonly queries: number;
  readonly candidates: number;
}

/**
 * Chooses among candidates by NDCG@10, and estimates the gain by cross-validation: each fifth of the queries is ranked with the
 * settings that the other four fifths prefer. `answers` has one list a candidate, in the order of the queries.
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

/** A fold for each query, of nearly equal sizes, the same for the same number of queries. */
function foldsOf(queries: number): readonly number[] {
  const random = createRandom(SEED);
  const order = Array.from({ length: queries }, (_, query) => ({ query, key: random() })).sort((a, b) => a.key - b.key);
  const folds = new Map(order.map(({ query }, place) => [query, place % FOLDS]));
  return Array.from({ length: queries }, (_, query) => folds.get(query) ?? 0);
}

/** The candidate with the best mean over some queries; the first of equals. */
function bestOf(answers: readonly (readonly AnsweredQuery[])[], counts: (query: number) => boolean): number {
  const totals = answers.map((own) =>
    own.reduce((sum, { figures }, query) => (counts(query) ? sum + (figures?.["ndcg@10"] ?? 0) : sum), 0),
  );
  // A gain within rounding does not count.
  return totals.reduce((best, total, index) => (total > (totals[best] ?? 0) + 1e-9 ? index : best), 0);
}
