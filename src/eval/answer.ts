import type { Figures } from "./metrics.ts";
import type { SetQuery } from "./read-set.ts";

/** A query and its ranking. */
export interface AnsweredQuery extends SetQuery {
  /** Undefined if nothing fits, correctly: such a query has no ranking to measure. */
  readonly figures: Figures | undefined;
  /** Best first, before any refusal, without the tools that count neither for nor against. */
  readonly ranking: readonly RankedTool[];
  readonly refused: boolean;
  readonly durationMs: number;
}

/** A tool in a ranking, by the id the tools file gave it. */
export interface RankedTool {
  readonly id: string;
  readonly score: number;
  readonly semanticScore: number;
}

/** The number of tools ranked for each query; a lower tool counts as not found. */
export const RANKED = 50;

/** The rank of a tool, counted from 1; undefined if it is not ranked. */
export function rankOf(answer: Pick<AnsweredQuery, "ranking">, id: string): number | undefined {
  return firstRank({ ranking: answer.ranking, relevant: [id] });
}

/** The rank of the first tool that serves the query, counted from 1; undefined if none is ranked. */
export function firstRank({ ranking, relevant }: Pick<AnsweredQuery, "ranking" | "relevant">): number | undefined {
  const index = ranking.findIndex(({ id }) => relevant.includes(id));
  return index < 0 ? undefined : index + 1;
}
