import { tokenize } from "../../catalog/lexical/tokenize.ts";
import { wordsOf } from "../known-tools.ts";

/** Words of requests that no field of the tool contains, and the number of its queries that contain them. */
export interface MissingWords {
  readonly words: string;
  readonly queries: number;
}

export interface OwnQuery {
  readonly query: string;
  /** Returns whether a term is in a field of the tool, or of another tool that serves the same query. */
  readonly isSaid: (term: string) => boolean;
}

const MOST = 5;
/** If a tool has at least this many queries, a word must be in two of them, because a single word may be a name or an accident. */
const ENOUGH_QUERIES = 3;
/** A single longer query is ignored, because any of its words may be irrelevant. */
const LONG = 20;
/** A word counts only if it is this many times as frequent in the tool's queries as in all others. */
const LIFT = 3;
/** Two words are combined to a phrase if at least this share of them occurs together. */
const TOGETHER = 0.6;
const WORD = /^\p{L}{3,}$/u;
const NAME = /(?<=[\p{L}\p{N},;:)]\s+)\p{Lu}\p{L}+/gu;

interface WordCount {
  readonly terms: readonly string[];
  readonly words: string;
  queries: number;
}

/**
 * Returns words of a tool's own queries that the tool lacks, most frequent first. `elsewhere` returns the share of other queries with a term, because
 * common words are not informative.
 */
export function missingWords(
  queries: readonly OwnQuery[],
  elsewhere: (term: string) => number,
): readonly MissingWords[] {
  const shares = termShares(queries.map(({ query }) => query));
  const tells = (term: string): boolean => shares(term) >= LIFT * elsewhere(term);
  const counted = new Map<string, WordCount>();
  for (const query of queries) countIn(query, tells, { isSparse: queries.length < ENOUGH_QUERIES, counted });
  const least = queries.length >= ENOUGH_QUERIES ? 2 : 1;
  return withoutRepeats(
    [...counted.values()].toSorted((a, b) => b.queries - a.queries),
    counted,
  )
    .filter((entry) => entry.queries >= least)
    .toSorted((a, b) => b.queries - a.queries)
    .slice(0, MOST)
    .map(({ words, queries: found }) => ({ words, queries: found }));
}

export function termShares(queries: readonly string[]): (term: string) => number {
  const counts = new Map<string, number>();
  for (const query of queries) for (const term of wordsOf(query).keys()) counts.set(term, (counts.get(term) ?? 0) + 1);
  return (term) => (counts.get(term) ?? 0) / Math.max(1, queries.length);
}

/** Counts the missing words of one query, and adjacent pairs of them, each once. */
function countIn(
  { query, isSaid }: OwnQuery,
  tells: (term: string) => boolean,
  { isSparse, counted }: { readonly isSparse: boolean; readonly counted: Map<string, WordCount> },
): void {
  const seen = new Set<string>();
  const count = (terms: readonly string[], words: string): void => {
    const key = terms.join(" ");
    if (seen.has(key)) return;
    seen.add(key);
    const known = counted.get(key);
    if (known) known.queries++;
    else counted.set(key, { terms, words, queries: 1 });
  };
  const names = new Set(isSparse ? (query.match(NAME) ?? []).map((name) => name.toLowerCase()) : []);
  let before: { readonly term: string; readonly word: string } | undefined;
  const tokens = tokenize(query);
  if (isSparse && tokens.length > LONG) return;
  for (const token of tokens) {
    const counts = WORD.test(token.word) && !isSaid(token.term) && tells(token.term) && !names.has(token.word);
    if (counts) {
      count([token.term], token.word);
      if (before && before.term !== token.term) count([before.term, token.term], `${before.word} ${token.word}`);
    }
    before = counts ? token : undefined;
  }
}

/** Replaces words by the phrases in which they mostly occur. */
function withoutRepeats(entries: readonly WordCount[], counted: ReadonlyMap<string, WordCount>): readonly WordCount[] {
  const inPhrase = new Set<string>();
  const phrases = entries.filter(({ terms, queries }) => {
    if (terms.length < 2 || queries < 2 || terms.some((term) => inPhrase.has(term))) return false;
    if (!terms.every((term) => queries >= TOGETHER * (counted.get(term)?.queries ?? 0))) return false;
    for (const term of terms) inPhrase.add(term);
    return true;
  });
  return [
    ...phrases,
    ...entries.filter(({ terms: [term = "", second] }) => second === undefined && !inPhrase.has(term)),
  ];
}
