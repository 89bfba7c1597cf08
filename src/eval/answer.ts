import type { Figures } from "./metrics.ts";
import type { SetQuery } from "./read-set.ts";

/** A query and how it was answered. */
export interface Answer extends SetQuery {
  /** Undefined if nothing fits, rightly: such a query has no ranking to measure. */
  readonly figures: Figures | undefined;
  /** Best first, before anything is refused, without the tools that neither count nor cost. */
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

/** Tools that are ranked for each query; a tool below counts as not found. */
export const RANKED = 50;

/** Where a tool stands, counted from 1; undefined if it is not ranked. */
export function rankOf(answer: Pick<Answer, "ranking">, id: string): number | undefined {
  return firstRank({ ranking: answer.ranking, relevant: [id] });
}

/** Where the first tool that serves the query stands, counted from 1; undefined if none is ranked. */
export function firstRank({ ranking, relevant }: Pick<Answer, "ranking" | "relevant">): number | undefined {
  const index = ranking.findIndex(({ id }) => relevant.includes(id));
  return index < 0 ? undefined : index + 1;
}
