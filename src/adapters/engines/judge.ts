import type { EngineAnswer, EngineCandidate, EngineQuery, MatchedTerm } from "../../catalog/catalog-engine.port.ts";
import {
  attainableBy,
  type FieldLengths,
  type FieldMeasures,
  measureFields,
  rarity,
  saturated,
  toMatchedTerms,
  weighted,
  weighTerms,
} from "../../catalog/lexical/bm25f.ts";
import { LEXICAL_FIELDS, SATURATION } from "../../catalog/lexical/lexical-fields.ts";
import { createTermVectors } from "../../catalog/lexical/term-vectors.ts";
import { nameKey } from "../../catalog/lexical/tokenize.ts";
import { toolFields } from "../../catalog/tool-text.ts";
import { createTopK } from "../../catalog/top-k.ts";
import type { Tool } from "../../tool/tool.ts";
import { readWords, type ToolWords, toWord } from "./tool-words.ts";

/** Statistics for weighing the words of tools. They cover the whole catalog, regardless of filters. */
export interface Corpus extends FieldLengths {
  readonly size: number;
  /** Returns the number of tools with a term. Called for the terms of the texts, and for the terms of found tools if candidates are compared. */
  documentsOf(term: string): number;
}

export interface FoundTool {
  readonly tool: Tool;
  /** For each vector of the query, its cosine with the tool; undefined if the tool has no vector of that model. */
  readonly cosines: readonly (number | undefined)[];
  /**
   * True if a vector found the tool, or the query names it. Other tools stay only if their words rank among the best `limit` for a text. An engine
   * may therefore return more of these tools than needed, in approximate order.
   */
  readonly stays: boolean;
  /** The coverage of each text, if the engine has computed it. */
  readonly coverage?: readonly number[];
  /** Cached words, if any. */
  readonly words?: ToolWords;
}

export interface Evidence extends Pick<
  EngineAnswer,
  "accepted" | "total" | "embedded" | "named" | "namespaceFit" | "timings"
> {
  readonly corpus: Corpus;
  /** Each tool once. */
  readonly found: readonly FoundTool[];
}

const NAMESPACE = LEXICAL_FIELDS.indexOf("namespace");

/** Builds an engine's answer from a database's evidence: scores the tools by their words exactly like the memory engine, and keeps the best. */
export function judge({ texts, limit }: EngineQuery, gathered: Evidence): EngineAnswer {
  const { corpus, found, ...said } = gathered;
  const measures = measureFields(corpus);
  const words: (ToolWords | undefined)[] = found.map(({ words: own }) => own);
  const wordsAt = (place: number): ToolWords => (words[place] ??= readWords(toolFields(found[place]?.tool as Tool)));

  const scorers = texts.map((text) => createScorer(text, corpus, measures));
  const judged = found.map(({ coverage }, place) => coverage ?? scorers.map((score) => score(wordsAt(place))));
  const stay = new Set(found.flatMap(({ stays }, place) => (stays ? [place] : [])));
  texts.forEach((_, at) => {
    const best = createTopK(limit, (a, b) => (found[a]?.tool.id ?? "") < (found[b]?.tool.id ?? ""));
    judged.forEach((coverage, place) => {
      if ((coverage[at] ?? 0) > 0) best.offer(coverage[at] ?? 0, place);
    });
    for (const { row } of best.take()) stay.add(row);
  });

  const placeOf = new Map<string, number>();
  const candidates: EngineCandidate[] = [];
  found.forEach(({ tool, cosines }, place) => {
    if (!stay.has(place)) return;
    placeOf.set(tool.id, place);
    candidates.push({ tool, coverage: judged[place] ?? [], cosines });
  });

  const alike = createTermVectors((place) => {
    const own = wordsAt(place);
    return Array.from(own.counts.keys(), (term) => {
      const worth = rarity(corpus.documentsOf(term), corpus.size);
      return [term, worth * saturated(frequencyIn(measures, own, term, NAMESPACE))] as const;
    });
  });

  return {
    ...said,
    candidates,

    matchedTerms(text) {
      const terms = weighTerms(text, (term) => known(term, corpus), corpus.size);
      return (id): readonly MatchedTerm[] => {
        const place = placeOf.get(id);
        if (place === undefined) return [];
        const own = wordsAt(place);
        return toMatchedTerms(
          terms.flatMap(({ word, posting, weight }) => {
            const term = posting?.term ?? "";
            const counts = own.counts.get(term);
            if (!counts) return [];
            const fields = LEXICAL_FIELDS.filter((_, field) => (counts[field] ?? 0) > 0);
            return [{ word, value: weight * saturated(frequencyIn(measures, own, term)), fields }];
          }),
        );
      };
    },

    similarity(a, b) {
      const [placeA, placeB] = [placeOf.get(a), placeOf.get(b)];
      if (placeA === undefined || placeB === undefined) return 0;
      return placeA === placeB ? 1 : alike.cosine(placeA, placeB);
    },
  };
}

/** Returns the terms of a text with their weights. The weights are shares of the highest possible coverage. */
export function sharesOf(
  text: string,
  corpus: Pick<Corpus, "size" | "documentsOf">,
): readonly { readonly term: string; readonly documents: number; readonly share: number }[] {
  const terms = weighTerms(text, (term) => known(term, corpus), corpus.size);
  const attainable = attainableBy(terms);
  return terms.map(({ posting, weight }) => ({
    term: posting?.term ?? "",
    documents: posting?.documents ?? 0,
    share: weight / attainable,
  }));
}

/** Returns the weighted frequency of a term in a tool, in [0, 1). Each further occurrence adds less. */
export function impactOf(measures: FieldMeasures, words: ToolWords, term: string): number {
  return saturated(frequencyIn(measures, words, term));
}

/** Returns a function that computes the coverage of a text by a tool. Rounds like the memory engine. */
function createScorer(text: string, corpus: Corpus, measures: FieldMeasures): (words: ToolWords) => number {
  const terms = sharesOf(text, corpus);
  const key = nameKey(text);
  return (words) => {
    if (key !== "" && words.spellings.includes(key)) return 1;
    let score = 0;
    for (const { term, share } of terms) {
      const frequency = frequencyIn(measures, words, term);
      if (frequency > 0) score = Math.fround(score + (share * frequency) / (SATURATION + frequency));
    }
    return score;
  };
}

function known(
  term: string,
  { documentsOf }: Pick<Corpus, "documentsOf">,
): { readonly term: string; readonly documents: number } {
  const word = toWord(term);
  return { term: word, documents: documentsOf(word) };
}

function frequencyIn(measures: FieldMeasures, { counts, lengths }: ToolWords, term: string, leftOut?: number): number {
  let sum = 0;
  counts.get(term)?.forEach((times, field) => {
    if (times > 0 && field !== leftOut) sum += weighted(measures, field, times, lengths[field] ?? 0);
  });
  return sum;
}
