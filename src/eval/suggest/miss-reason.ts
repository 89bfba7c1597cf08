import type { ExplainedTool } from "../../retrieve/result.ts";
import type { Answer } from "../answer.ts";
import { type KnownTool, quoted, wordsOf } from "../known-tools.ts";
import type { MissKind } from "./misses.ts";

/** A tool and what the arsenal says of its score; nothing where it was not even looked at. */
export interface Contender {
  readonly known: KnownTool;
  readonly explained?: ExplainedTool | undefined;
}

/** Signals that differ by less say nothing. */
const LEAST_DIFFERENCE = 0.005;
const MOST_SIGNALS = 2;
const MOST_WORDS = 4;

/** Why a query was missed, in a line: the words each side has of the request, and the signals that made the difference. */
export function missReason(
  answer: Pick<Answer, "query" | "ranking">,
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

/** Diversity moves a near-copy down below tools with lower scores. */
function isHeldBack({ ranking }: Pick<Answer, "ranking">, { known }: Contender): boolean {
  const index = ranking.findIndex(({ id }) => id === known.id);
  const score = ranking[index]?.score ?? -Infinity;
  return ranking.slice(0, Math.max(0, index)).some((above) => above.score < score);
}

/** The signals by which the best tool leads most. */
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
