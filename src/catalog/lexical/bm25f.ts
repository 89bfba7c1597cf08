import type { MatchedTerm } from "../catalog-engine.port.ts";
import { createTopK, type ScoredRow } from "../top-k.ts";
import { FIELD_WEIGHTS, LEXICAL_FIELDS, SATURATION } from "./lexical-fields.ts";
import { FIELD_SPAN, type Posting } from "./posting.ts";
import { tokenize } from "./tokenize.ts";

/** The length of each field: its tokens in all documents, and the number of documents that have the field. */
export interface FieldLengths {
  readonly totalLength: readonly number[];
  readonly documentsWith: readonly number[];
}

/** Each field's weight and length normalisation, precomputed so that the inner loop only multiplies. */
export interface FieldMeasures {
  readonly weight: Float32Array;
  readonly base: Float32Array;
  readonly slope: Float32Array;
}

/** A word of a query, with its posting and weight. */
export interface QueryTerm<Found> {
  readonly word: string;
  readonly posting: Found | undefined;
  readonly weight: number;
}

/** Scores by slot, and the slots with a score. */
export interface Scores {
  readonly values: Float32Array;
  readonly touched: Uint32Array;
  count: number;
}

/** In a small catalog, the rarity of a word means little, so rarity is computed for at least this many documents. */
const LEAST_POPULATION = 50;

/** Returns the weight of a term that occurs in `documents` of `population` documents. */
export function rarity(documents: number, population: number): number {
  return Math.log(1 + (Math.max(population, LEAST_POPULATION) - documents + 0.5) / (documents + 0.5));
}

/** Computes the weights of fields from their lengths. */
export function measureFields({ totalLength, documentsWith }: FieldLengths): FieldMeasures {
  const measures = {
    weight: new Float32Array(FIELD_SPAN),
    base: new Float32Array(FIELD_SPAN),
    slope: new Float32Array(FIELD_SPAN),
  };
  LEXICAL_FIELDS.forEach((name, field) => {
    const { weight, lengthPenalty } = FIELD_WEIGHTS[name];
    const average = (totalLength[field] ?? 0) / Math.max(documentsWith[field] ?? 0, 1);
    measures.weight[field] = weight;
    measures.base[field] = 1 - lengthPenalty;
    measures.slope[field] = average > 0 ? lengthPenalty / average : 0;
  });
  return measures;
}

/** Weighs an occurrence count by its field. Occurrences in a long field count less. */
export function weighted(measures: FieldMeasures, field: number, count: number, length: number): number {
  const norm = (measures.base[field] ?? 0) + (measures.slope[field] ?? 0) * length;
  return ((measures.weight[field] ?? 0) * count) / norm;
}

/** The maximum number of distinct terms of a text that are searched. A page of prose has about 200. */
const MOST_TERMS = 256;

/** Returns the distinct terms of a text with their weights. */
export function weighTerms<Found extends { readonly documents: number }>(
  text: string,
  find: (term: string) => Found | undefined,
  population: number,
): readonly QueryTerm<Found>[] {
  const found = new Map<string, QueryTerm<Found>>();
  for (const { word, term } of tokenize(text)) {
    if (found.has(term)) continue;
    if (found.size === MOST_TERMS) break;
    const posting = find(term);
    found.set(term, { word, posting, weight: rarity(posting?.documents ?? 0, population) });
  }
  return [...found.values()];
}

/** Returns the highest score that a document could reach. */
export function attainableBy(query: readonly QueryTerm<unknown>[]): number {
  let sum = 0;
  for (const { weight } of query) sum += weight;
  return sum;
}

export function createScores(slots: number): Scores {
  return { values: new Float32Array(slots), touched: new Uint32Array(slots), count: 0 };
}

export function clearScores(scores: Scores): void {
  for (let index = 0; index < scores.count; index++) scores.values[scores.touched[index] ?? 0] = 0;
  scores.count = 0;
}

export function setScore(scores: Scores, slot: number, value: number): void {
  if (scores.values[slot] === 0) scores.touched[scores.count++] = slot;
  scores.values[slot] = value;
}

/** Scores every document that shares a term with the query, relative to the highest possible score. */
export function scoreDocuments(
  query: readonly QueryTerm<Pick<Posting, "keys" | "counts" | "length">>[],
  { lengths, measures }: { readonly lengths: Float32Array; readonly measures: FieldMeasures },
  scores: Scores,
): void {
  const attainable = attainableBy(query);
  const { values, touched } = scores;
  for (const { posting, weight } of query) {
    if (!posting) continue;
    const { keys, counts, length } = posting;
    const share = weight / attainable;
    for (let at = 0; at < length;) {
      const slot = (keys[at] ?? 0) >>> 3;
      let frequency = 0;
      for (; at < length && (keys[at] ?? 0) >>> 3 === slot; at++) {
        const key = keys[at] ?? 0;
        frequency += weighted(measures, key & (FIELD_SPAN - 1), counts[at] ?? 0, lengths[key] ?? 0);
      }
      // Fields of weight 0 add nothing, and a slot with the score 0 must not be listed twice.
      if (frequency === 0) continue;
      const before = values[slot] ?? 0;
      if (before === 0) touched[scores.count++] = slot;
      values[slot] = before + (share * frequency) / (SATURATION + frequency);
    }
  }
}

/** The contribution of a repeated term, in [0, 1). Each repetition adds less. */
export function saturated(frequency: number): number {
  return frequency / (SATURATION + frequency);
}

/** Returns the accepted slots with the highest scores, best first. Equal scores are ordered by id. */
export function bestOf(
  scores: Scores,
  ids: readonly (string | undefined)[],
  limit: number,
  accept: (slot: number) => boolean = () => true,
): readonly ScoredRow[] {
  const best = createTopK(limit, (a, b) => (ids[a] ?? "") < (ids[b] ?? ""));
  for (let index = 0; index < scores.count; index++) {
    const slot = scores.touched[index] ?? 0;
    if (accept(slot)) best.offer(scores.values[slot] ?? 0, slot);
  }
  return best.take();
}

/** Returns words and their share of the total contribution, heaviest first, without words that contribute nothing. */
export function toMatchedTerms(
  found: readonly { readonly word: string; readonly value: number; readonly fields: readonly string[] }[],
): readonly MatchedTerm[] {
  const matched = found.filter(({ value }) => value > 0);
  const sum = matched.reduce((total, { value }) => total + value, 0);
  return matched
    .sort((a, b) => b.value - a.value)
    .map(({ word, value, fields }) => ({ term: word, fields, share: value / sum }));
}
