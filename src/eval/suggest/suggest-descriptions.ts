import { count } from "../../errors/show-value.ts";
import { originalOf } from "../../tool/normalise/normalise-tool.ts";
import { splitWords } from "../../tool/split-words.ts";
import { type AnsweredQuery, RANKED, rankOf } from "../answer.ts";
import type { KnownTool } from "../known-tools.ts";
import { percentile } from "../metrics.ts";
import { SHOWN } from "./misses.ts";
import { type MissingWords, missingWords, termShares } from "./missing-words.ts";
import { compareText } from "./near-duplicates.ts";

type DescriptionSuggestion = NonNullable<ReturnType<typeof suggestionFor>>;

/** A description with fewer words adds nothing to the name. */
const FEWEST_WORDS = 4;
/** A tool that more than this share of its queries finds is not hidden. */
const LOW_SHARE = 0.5;

/** Suggests changes to tools that rank low in their own queries, most lost queries first; then to tools with short descriptions. */
export function suggestDescriptions(
  answers: readonly AnsweredQuery[],
  known: ReadonlyMap<string, KnownTool>,
): readonly DescriptionSuggestion[] {
  const own = new Map<string, AnsweredQuery[]>();
  for (const answer of answers)
    for (const id of new Set(answer.relevant)) own.set(id, [...(own.get(id) ?? []), answer]);
  const share = termShares(answers.map(({ query }) => query));
  /** Returns the share of the other tools' queries that contain a term. */
  const elsewhereThan = (asked: readonly AnsweredQuery[]): ((term: string) => number) => {
    const others = answers.length - asked.length;
    const ownShare = termShares(asked.map(({ query }) => query));
    return (term) => (others === 0 ? 0 : (share(term) * answers.length - ownShare(term) * asked.length) / others);
  };
  return [...known.values()]
    .flatMap((tool) => {
      const asked = own.get(tool.id) ?? [];
      return suggestionFor(tool, asked, known, elsewhereThan(asked)) ?? [];
    })
    .toSorted((a, b) => b.low - a.low || problemOrder(a) - problemOrder(b) || compareText(a.tool, b.tool));
}

/** Returns the suggestion for a tool that is hidden by its description. Fields have the names of the JSON. */
function suggestionFor(
  tool: KnownTool,
  asked: readonly AnsweredQuery[],
  known: ReadonlyMap<string, KnownTool>,
  elsewhere: (term: string) => number,
) {
  const places = asked.map((answer) => ({ answer, rank: rankOf(answer, tool.id) ?? Infinity }));
  const low = places.filter(({ answer, rank }) => rank > Math.max(SHOWN, answer.relevant.length));
  const thin = thinness(tool);
  const isLow = low.length > 0 && low.length >= LOW_SHARE * asked.length;
  // A short description is fine if the tool's queries find it.
  if (!isLow && (thin === undefined || asked.length > 0)) return undefined;
  const words = missingWords(
    low.map(({ answer: { query, relevant } }) => {
      const serving = relevant.flatMap((id) => known.get(id)?.terms ?? []);
      return { query, isSaid: (term) => serving.some((terms) => terms.has(term)) };
    }),
    elsewhere,
  );
  const ranks = places.map(({ rank }) => rank);
  const median = percentile(ranks, 0.5);
  return {
    kind: "description" as const,
    tool: tool.id,
    /** `missing` and `short` are about the description; `low` is about the ranks in the tool's own queries. */
    problems: [...(thin ? [thin] : []), ...(isLow ? (["low"] as const) : [])],
    /** The number of queries that the tool serves, and that rank it below the first five. */
    queries: asked.length,
    low: low.length,
    /** The median rank in its own queries; null if it is below the fiftieth, or there are no queries. */
    median_rank: asked.length > 0 && median <= RANKED ? median : null,
    /** Words of requests that none of its fields contains. */
    words,
    suggestion: advice(tool, thin, words, low.length, asked.length),
  };
}

function problemOrder({ problems }: DescriptionSuggestion): number {
  return problems.includes("missing") ? 0 : problems.includes("short") ? 1 : 2;
}

function thinness({ tool }: KnownTool): "missing" | "short" | undefined {
  const { description } = originalOf(tool);
  const words = typeof description === "string" ? splitWords(description) : [];
  if (words.length === 0) return "missing";
  const name = new Set(splitWords(tool.name));
  return words.length < FEWEST_WORDS || words.every((word) => name.has(word)) ? "short" : undefined;
}

function advice(
  { label }: KnownTool,
  thin: "missing" | "short" | undefined,
  words: readonly MissingWords[],
  low: number,
  asked: number,
): string {
  const what =
    thin === "missing" ? `${label} has no description` : `The description of ${label} says no more than its name`;
  const subject = thin && `${what}: say what it does, to what, and when to use it`;
  const wanted = words
    .map(({ words: phrase, queries }) => `“${phrase}”${queries > 1 ? ` (${queries} queries)` : ""}`)
    .join(", ");
  const lost = low > 0 ? ` ${low} of ${count(asked, "query ranks", "queries rank")} it below the first ${SHOWN}.` : "";
  if (subject !== undefined)
    return `${subject}.${wanted === "" ? "" : ` People ask for ${wanted}; no field has the words.`}${lost}`;
  if (wanted !== "")
    return `Say in the description of ${label} that it serves ${wanted}: people ask so, and no field has the words.${lost}`;
  return `${label} has the words of its queries, and others have them more plainly: put the action and its object into the first sentence.${lost}`;
}
