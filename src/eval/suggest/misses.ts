import { setImmediate as nextTurn } from "node:timers/promises";
import { type Answering, toToolQuery, type Work } from "../answer-queries.ts";
import { type AnsweredQuery, rankOf } from "../answer.ts";
import type { ExplainedTool } from "../../retrieve/result.ts";
import { type KnownTool, quoted, wordsOf } from "../known-tools.ts";
import { present } from "../../base/present.ts";
import { round } from "../metrics.ts";

/**
 * `low`: a relevant tool ranks too low. `lost`: none is in the first fifty. `refused`: no tools were returned although one fits. `answered`: tools
 * were returned although none fits.
 */
export type MissKind = "low" | "lost" | "refused" | "answered";

/** A query with a wrong answer. Fields have the names of the JSON lines. */
export type Miss = ReturnType<typeof toMiss>;

/** The default number of tools for a model. */
export const SHOWN = 5;

/** Returns the kind of the miss; undefined if the answer is right. If more than five tools are relevant, they may fill that many ranks. */
export function missKind(answer: AnsweredQuery): MissKind | undefined {
  const { relevant, refused } = answer;
  if (relevant.length === 0) return refused ? undefined : "answered";
  const ranks = relevant.map((id) => rankOf(answer, id) ?? Infinity);
  if (Math.min(...ranks) === Infinity) return "lost";
  if (Math.max(...ranks) > Math.max(SHOWN, new Set(relevant).size)) return "low";
  return refused ? "refused" : undefined;
}

export function toMiss(
  answer: AnsweredQuery,
  kind: MissKind,
  reason: string,
  known: ReadonlyMap<string, Pick<KnownTool, "name">> = new Map(),
) {
  /** Returns a tool as in the tools file. Without a name if the file has no such tool. */
  const named = (toolId: string) => present({ id: toolId, name: known.get(toolId)?.name });
  const { id, query, style, relevant, ranking } = answer;
  return {
    ...present({ id, query, style }),
    kind,
    /** The relevant tools and their ranks; null if a tool is not among the first fifty. */
    relevant: relevant.map((wanted) => {
      const rank = rankOf(answer, wanted);
      const score = rank === undefined ? undefined : ranking[rank - 1]?.score;
      return { ...named(wanted), rank: rank ?? null, score: score === undefined ? null : round(score) };
    }),
    /** The first five tools. */
    returned: ranking.slice(0, SHOWN).map((tool) => ({
      ...named(tool.id),
      score: round(tool.score),
      semantic_score: round(tool.semanticScore),
      relevant: relevant.includes(tool.id),
    })),
    reason,
  };
}

/** Returns the relevant tool with the worst rank, which the reason explains. */
export function worstPlaced(answer: AnsweredQuery): string | undefined {
  return answer.relevant
    .map((id) => ({ id, rank: rankOf(answer, id) ?? Infinity }))
    .toSorted((a, b) => (a.rank === b.rank ? 0 : b.rank - a.rank))[0]?.id;
}

/** Explains every missed query, in order. Runs these queries again, so that explanations do not affect the measured times. */
export async function explainMisses(
  arsenal: Answering,
  answers: readonly AnsweredQuery[],
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

/** A tool and the explanation of its score, which is omitted if the tool was not a candidate. */
export interface Contender {
  readonly known: KnownTool;
  readonly explained?: ExplainedTool | undefined;
}

/** Smaller differences between signals are not reported. */
const LEAST_DIFFERENCE = 0.005;
const MOST_SIGNALS = 2;
const MOST_WORDS = 4;

/** Explains in one line why a query was missed: the words of the request that each tool contains, and the signals that made the difference. */
export function missReason(
  answer: Pick<AnsweredQuery, "query" | "ranking">,
  kind: MissKind,
  { wanted, best }: { readonly wanted: Contender | undefined; readonly best: Contender | undefined },
): string {
  if (best === undefined) return "No tool shares a word with the request.";
  const bestWords = `${best.known.label} has ${shownWords(matched(answer.query, best))} of the request`;
  if (kind === "answered") return sentence(`Nothing fits, but ${bestWords}`, `its fit is ${fit(best)}`);
  if (kind === "refused") return sentence(`The best, ${best.known.label}, fits by ${fit(best)} only`);
  if (wanted === undefined) return sentence(bestWords);
  const wantedWords = `${wanted.known.label} has ${shownWords(matched(answer.query, wanted))} of the request`;
  if (isHeldBack(answer, wanted))
    return sentence(`${wanted.known.label} scores higher than some above it, and is held back as a near-copy of one`);
  return sentence(wantedWords, bestWords, ...leads(wanted, best));
}

function sentence(...parts: readonly string[]): string {
  return `${parts.join("; ")}.`;
}

function matched(query: string, { known, explained }: Contender): readonly string[] {
  if (explained) return explained.matchedTerms.map(({ term }) => term);
  return [...wordsOf(query)].filter(([term]) => known.terms.has(term)).map(([, word]) => word);
}

function shownWords(words: readonly string[]): string {
  if (words.length === 0) return "no word";
  const more = words.length > MOST_WORDS ? ` and ${words.length - MOST_WORDS} more` : "";
  return `${quoted(words.slice(0, MOST_WORDS))}${more}`;
}

function fit({ explained }: Contender): string {
  return (explained?.signals.find(({ name }) => name === "semantic")?.value ?? 0).toFixed(2);
}

/** Returns true if diversity moved a near-copy below tools with lower scores. */
function isHeldBack({ ranking }: Pick<AnsweredQuery, "ranking">, { known }: Contender): boolean {
  const index = ranking.findIndex(({ id }) => id === known.id);
  const score = ranking[index]?.score ?? -Infinity;
  return ranking.slice(0, Math.max(0, index)).some((above) => above.score < score);
}

/** Names the signals in which the best tool has the largest lead. */
function leads(wanted: Contender, best: Contender): readonly string[] {
  if (!wanted.explained || !best.explained) return [];
  const own = new Map(wanted.explained.signals.map((signal) => [signal.name, signal]));
  return best.explained.signals
    .map((signal) => ({ ...signal, own: own.get(signal.name) }))
    .map((signal) => ({ ...signal, lead: signal.contribution - (signal.own?.contribution ?? 0) }))
    .filter(({ lead }) => lead >= LEAST_DIFFERENCE)
    .toSorted((a, b) => b.lead - a.lead)
    .slice(0, MOST_SIGNALS)
    .map(({ name, value, own: other }) => `${name} ${(other?.value ?? 0).toFixed(2)} against ${value.toFixed(2)}`);
}
