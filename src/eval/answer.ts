import type { Figures } from "./metrics.ts";
import type { SetQuery } from "./read-set.ts";

export interface AnsweredQuery extends SetQuery {
  /** Undefined if no tool is relevant: such a query has no ranking to measure. */
  readonly figures: Figures | undefined;
  /** Best first, before any refusal, without tools that are neither right nor wrong. */
  readonly ranking: readonly RankedTool[];
  readonly refused: boolean;
  readonly durationMs: number;
}

/** A tool in a ranking, with its id from the tools file. */
export interface RankedTool {
  readonly id: string;
  readonly score: number;
  readonly semanticScore: number;
}

/** The number of ranked tools per query. Tools below count as not found. */
export const RANKED = 50;

/** Returns the rank of a tool, from 1; undefined if it is not ranked. */
export function rankOf(answer: Pick<AnsweredQuery, "ranking">, id: string): number | undefined {
  return firstRank({ ranking: answer.ranking, relevant: [id] });
}

/** Returns the rank of the first relevant tool, from 1; undefined if none is ranked. */
export function firstRank({ ranking, relevant }: Pick<AnsweredQuery, "ranking" | "relevant">): number | undefined {
  const index = ranking.findIndex(({ id }) => relevant.includes(id));
  return index < 0 ? undefined : index + 1;
}
