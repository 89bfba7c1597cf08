import { count } from "../../errors/show-value.ts";
import { type AnsweredQuery, rankOf } from "../answer.ts";
import { type KnownTool, quoted } from "../known-tools.ts";
import { termShares } from "./missing-words.ts";
import { type AlikePair, compareText, type Likeness, NEAR_DUPLICATE } from "./near-duplicates.ts";

/** One lost query may be an accident. Two are a pattern, and so is one if the tools are very similar. */
const LEAST_TAKEN = 2;
const ALIKE = 0.5;
/** The smallest reported share of a tool's queries that another tool takes. */
const LEAST_SHARE = 0.1;
/** Tools with lower similarity are unrelated. */
const RELATED = 0.2;
/** A tool matches too much if it takes this many queries, from this many unrelated tools, and twice the average. */
const MANY = 3;
const OWN_WORD = /^\p{L}{3,}$/u;
const MOST_OWN_WORDS = 4;
const MOST_QUERIES = 10;

/** The queries of one tool in which another tool ranked first. */
interface Taking {
  readonly taker: string;
  readonly loser: string;
  readonly queries: AnsweredQuery[];
}

/** Returns pairs in which one tool takes the other's queries, most taken first. A tool that takes queries from many unrelated tools is listed once. */
export function shadowsByQueries(
  answers: readonly AnsweredQuery[],
  known: ReadonlyMap<string, KnownTool>,
  likeness: Pick<Likeness, "of">,
) {
  const takings = takingsOf(answers);
  const asked = new Map<string, number>();
  for (const { relevant } of answers) for (const id of new Set(relevant)) asked.set(id, (asked.get(id) ?? 0) + 1);
  const unlike = [...takings.values()].filter(({ taker, loser }) => likeness.of(taker, loser) < RELATED);
  const takenByATool = unlike.reduce((sum, { queries }) => sum + queries.length, 0) / Math.max(1, known.size);
  const many = Math.max(MANY, 2 * takenByATool);
  const magnets = [...Map.groupBy(unlike, ({ taker }) => taker)]
    .filter(([, group]) => group.length >= MANY && new Set(group.flatMap(({ queries }) => queries)).size >= many)
    .flatMap(([taker, group]) => toMagnet(known.get(taker), group) ?? []);
  const told = new Set(magnets.map(({ tool }) => tool));
  const shadows: ReturnType<typeof toShadow>[number][] = [];
  for (const { taker, loser, queries } of takings.values()) {
    const back = takings.get(JSON.stringify([loser, taker]))?.queries.length ?? 0;
    // If both tools take queries from each other, the pair is listed once, with the tool that takes more first.
    if (back > queries.length || (back === queries.length && compareText(taker, loser) > 0)) continue;
    const similarity = likeness.of(taker, loser);
    if (queries.length + back < LEAST_TAKEN && similarity < ALIKE) continue;
    if (queries.length < LEAST_SHARE * (asked.get(loser) ?? 0)) continue;
    if (similarity < RELATED && told.has(taker)) continue;
    const taken = queries.map(({ id }) => id);
    shadows.push(...toShadow({ a: taker, b: loser, similarity }, known, taken, back));
  }
  return [...magnets, ...shadows].toSorted((a, b) => b.taken - a.taken);
}

function takingsOf(answers: readonly AnsweredQuery[]): ReadonlyMap<string, Taking> {
  const takings = new Map<string, Taking>();
  for (const answer of answers) {
    for (const { taker, loser } of takenIn(answer)) {
      const key = JSON.stringify([taker, loser]);
      const taking = takings.get(key) ?? { taker, loser, queries: [] };
      taking.queries.push(answer);
      takings.set(key, taking);
    }
  }
  return takings;
}

/** Describes a tool that takes the queries of many unrelated tools. Fields have the names of the JSON. */
function toMagnet(tool: KnownTool | undefined, group: readonly Taking[]) {
  if (!tool) return undefined;
  const queries = [...new Set(group.flatMap((taking) => taking.queries))];
  const shares = termShares(queries.map(({ query }) => query));
  const words = [...tool.terms]
    .filter(([term, word]) => shares(term) * queries.length >= LEAST_TAKEN && OWN_WORD.test(word))
    .toSorted(([a], [b]) => shares(b) - shares(a))
    .slice(0, MOST_OWN_WORDS)
    .map(([, word]) => word);
  const by = words.length > 0 ? ` by words like ${quoted(words)}` : "";
  return {
    kind: "magnet" as const,
    tool: tool.id,
    taken: queries.length,
    /** The tools that lose queries to it, most lost first. */
    from: group.toSorted((a, b) => b.queries.length - a.queries.length).map(({ loser }) => loser),
    queries: queries.slice(0, MOST_QUERIES).map(({ id }) => id),
    /** The words that match these queries, most frequent first. */
    words,
    suggestion: `${tool.label} takes ${queries.length} queries of ${group.length} tools that it does not resemble${by}. Say less in its description and parameters: what it does, and no common words around it.`,
  };
}

/** Returns pairs of similar tools that no query distinguishes. */
export function shadowsByLikeness(pairs: readonly AlikePair[], known: ReadonlyMap<string, KnownTool>) {
  return pairs.flatMap((pair) => toShadow(pair, known, [], 0));
}

/** Returns the relevant tools that rank too low, each with the first tool above it. Several relevant tools may take that many ranks. */
function takenIn(answer: AnsweredQuery): readonly { readonly taker: string; readonly loser: string }[] {
  const relevant = new Set(answer.relevant);
  const taker = answer.ranking.find(({ id }) => !relevant.has(id))?.id;
  if (taker === undefined) return [];
  return [...relevant]
    .filter((id) => (rankOf(answer, id) ?? Infinity) > relevant.size)
    .map((loser) => ({ taker, loser }));
}

/** Describes two tools that compete for queries: the one that takes queries, then the one that loses them. Fields have the names of the JSON. */
function toShadow(
  { a, b, similarity: exact }: AlikePair,
  known: ReadonlyMap<string, KnownTool>,
  queries: readonly string[],
  back: number,
) {
  const [first, second] = [known.get(a), known.get(b)];
  if (!first || !second) return [];
  const similarity = Math.round(exact * 100) / 100;
  const taken = queries.length;
  const other = back > 0 ? `, and loses ${back} to it` : "";
  const line = `${first.label} takes ${count(taken, "query", "queries")} of ${second.label}${other}.`;
  const alike = `read alike (${similarity.toFixed(2)}).`;
  const happens =
    taken === 0
      ? `${first.label} and ${second.label} ${alike}`
      : `${line}${similarity >= NEAR_DUPLICATE ? ` They ${alike}` : ""}`;
  return [
    {
      kind: "shadow" as const,
      tools: [a, b] as const,
      similarity,
      /** The number of queries that the first tool took from the second, and the reverse. */
      taken,
      taken_back: back,
      queries: queries.slice(0, MOST_QUERIES),
      suggestion: `${happens} ${remedy(first, second, similarity)}`,
    },
  ];
}

function remedy(first: KnownTool, second: KnownTool, similarity: number): string {
  const [onlyFirst, onlySecond] = [ownWords(first, second), ownWords(second, first)];
  if (onlyFirst.length === 0 && onlySecond.length === 0)
    return "No field tells them apart: leave one of them out, or say in each description when it is the right one.";
  const has = ({ label }: KnownTool, own: readonly string[]): string =>
    `${label} ${own.length === 0 ? "none" : quoted(own)}`;
  const advice =
    similarity >= NEAR_DUPLICATE
      ? "Say in the first sentence of each what the other does not do, or leave one of them out."
      : `Say in the description of ${second.label} what it does that ${first.label} does not.`;
  return `${advice} Words of their own: ${has(first, onlyFirst)}; ${has(second, onlySecond)}.`;
}

function ownWords(tool: KnownTool, other: KnownTool): readonly string[] {
  return [...tool.terms]
    .filter(([term, word]) => !other.terms.has(term) && OWN_WORD.test(word))
    .slice(0, MOST_OWN_WORDS)
    .map(([, word]) => word);
}
