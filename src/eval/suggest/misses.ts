import { setImmediate as nextTurn } from "node:timers/promises";
import { type Answering, toToolQuery, type Work } from "../answer-queries.ts";
import { type Answer, rankOf } from "../answer.ts";
import type { KnownTool } from "../known-tools.ts";
import { round } from "../metrics.ts";
import { type Contender, missReason } from "./miss-reason.ts";

/** A relevant tool ranks `low`; none is in the first fifty (`lost`); the query was `refused` although a tool fits, or `answered` although none does. */
export type MissKind = "low" | "lost" | "refused" | "answered";

/** A query that was not answered as it should, under the names the JSON lines have. */
export interface Miss {
  readonly id: string;
  readonly query: string;
  readonly style?: string;
  readonly kind: MissKind;
  /** What serves the query, and where it stands; null if it is not among the first fifty. */
  readonly relevant: readonly (NamedTool & { readonly rank: number | null; readonly score: number | null })[];
  /** The first five tools. */
  readonly returned: readonly (NamedTool & {
    readonly score: number;
    readonly semantic_score: number;
    readonly relevant: boolean;
  })[];
  readonly reason: string;
}

/** A tool as the tools file has it. */
export interface NamedTool {
  readonly id: string;
  /** Omitted if the file has no such tool. */
  readonly name?: string;
}

/** Tools a model is given where nobody says how many. */
export const SHOWN = 5;

/** What went wrong, or undefined if nothing did. More relevant tools than five may fill as many places as there are. */
export function missKind(answer: Answer): MissKind | undefined {
  const { relevant, refused } = answer;
  if (relevant.length === 0) return refused ? undefined : "answered";
  const ranks = relevant.map((id) => rankOf(answer, id) ?? Infinity);
  if (Math.min(...ranks) === Infinity) return "lost";
  if (Math.max(...ranks) > Math.max(SHOWN, new Set(relevant).size)) return "low";
  return refused ? "refused" : undefined;
}

/** A miss, with the reason found for it. */
export function toMiss(
  answer: Answer,
  kind: MissKind,
  reason: string,
  known: ReadonlyMap<string, Pick<KnownTool, "name">> = new Map(),
): Miss {
  const named = (toolId: string): NamedTool => {
    const name = known.get(toolId)?.name;
    return { id: toolId, ...(name === undefined ? {} : { name }) };
  };
  const { id, query, style, relevant, ranking } = answer;
  return {
    id,
    query,
    ...(style === undefined ? {} : { style }),
    kind,
    relevant: relevant.map((wanted) => {
      const rank = rankOf(answer, wanted);
      const score = rank === undefined ? undefined : ranking[rank - 1]?.score;
      return { ...named(wanted), rank: rank ?? null, score: score === undefined ? null : round(score) };
    }),
    returned: ranking.slice(0, SHOWN).map((tool) => ({
      ...named(tool.id),
      score: round(tool.score),
      semantic_score: round(tool.semanticScore),
      relevant: relevant.includes(tool.id),
    })),
    reason,
  };
}

/** The tool of a query that stands worst: the one to explain. */
export function worstPlaced(answer: Answer): string | undefined {
  return answer.relevant
    .map((id) => ({ id, rank: rankOf(answer, id) ?? Infinity }))
    .toSorted((a, b) => (a.rank === b.rank ? 0 : b.rank - a.rank))[0]?.id;
}

/** Every query that was missed, in order, each with its reason. They are asked once more, so that explaining costs no measured time. */
export async function explainMisses(
  arsenal: Answering,
  answers: readonly Answer[],
  { known, signal, onProgress }: Work & { readonly known: ReadonlyMap<string, KnownTool> },
): Promise<readonly Miss[]> {
  const misses: Miss[] = [];
  for (const [index, answer] of answers.entries()) {
    const kind = missKind(answer);
    onProgress(index + 1);
    if (kind === undefined) continue;
    await nextTurn();
    signal.throwIfAborted();
    const { explanation } = await arsenal.retrieve({ ...toToolQuery(answer, signal), explain: true });
    const explained = new Map(
      [...(explanation?.chosen ?? []), ...(explanation?.leftOut ?? [])].map((tool) => [tool.toolId, tool]),
    );
    const contender = (id: string | undefined): Contender | undefined => {
      const tool = id === undefined ? undefined : known.get(id);
      return tool && { known: tool, explained: explained.get(tool.tool.id) };
    };
    const best = contender(answer.ranking.find(({ id }) => !answer.relevant.includes(id))?.id);
    const reason = missReason(answer, kind, { wanted: contender(worstPlaced(answer)), best });
    misses.push(toMiss(answer, kind, reason, known));
  }
  return misses;
}
