import type { MatchedTerm } from "../catalog-engine.port.ts";
import { createTopK, type ScoredRow } from "../top-k.ts";
import { FIELD_WEIGHTS, LEXICAL_FIELDS, SATURATION } from "./lexical-fields.ts";
import { FIELD_SPAN, type Posting } from "./posting.ts";
import { tokenize } from "./tokenize.ts";

/** The lengths of fields: their tokens over all documents, and the number of documents that have any. By field. */
export interface FieldLengths {
  readonly totalLength: readonly number[];
  readonly documentsWith: readonly number[];
}

/** Each field's weight and length norm, prepared so that the inner loop only multiplies. */
export interface FieldMeasures {
  readonly weight: Float32Array;
  readonly base: Float32Array;
  readonly slope: Float32Array;
}

/** A word of a query, its posting, and its weight. */
export interface QueryTerm<Found> {
  readonly word: string;
  readonly posting: Found | undefined;
  readonly weight: number;
}

/** Scores by slot, and the slots that have one. */
export interface Scores {
  readonly values: Float32Array;
  readonly touched: Uint32Array;
  count: number;
}

/** Among few documents, the rarity of a word means little, so documents are weighed as if there were this many. */
const LEAST_POPULATION = 50;

/** The weight of a term that occurs in `documents` of all documents. */
export function rarity(documents: number, population: number): number {
  return Math.log(1 + (Math.max(population, LEAST_POPULATION) - documents + 0.5) / (documents + 0.5));
}

/** How fields weigh, given how long they are. */
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

/** An occurrence count weighted by its field; it counts less in a long field. */
export function weighted(measures: FieldMeasures, field: number, count: number, length: number): number {
  const norm = (measures.base[field] ?? 0) + (measures.slope[field] ?? 0) * length;
  return ((measures.weight[field] ?? 0) * count) / norm;
}

/** The most distinct terms of a text that are searched for: a page of prose has about 200. */
const MOST_TERMS = 256;

/** The distinct terms of a text, each with its weight. */
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

/** The highest score that a document could reach. */
export function attainableBy(query: readonly QueryTerm<unknown>[]): number {
  let sum = 0;
  for (const { weight } of query) sum += weight;
  return sum;
}

/** Creates empty scores with room for `slots` slots. */
export function createScores(slots: number): Scores {
  return { values: new Float32Array(slots), touched: new Uint32Array(slots), count: 0 };
}

/** Makes scores empty again. */
export function clearScores(scores: Scores): void {
  for (let index = 0; index < scores.count; index++) scores.values[scores.touched[index] ?? 0] = 0;
  scores.count = 0;
}

/** Sets the score of a slot. */
export function setScore(scores: Scores, slot: number, value: number): void {
  if (scores.values[slot] === 0) scores.touched[scores.count++] = slot;
  scores.values[slot] = value;
}

/** Scores every document that shares a term with the query, as a share of the highest possible score. */
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
      // A field of weight 0 adds nothing, and a slot with the score 0 must not be added twice.
      if (frequency === 0) continue;
      const before = values[slot] ?? 0;
      if (before === 0) touched[scores.count++] = slot;
      values[slot] = before + (share * frequency) / (SATURATION + frequency);
    }
  }
}

/** The contribution of a repeated term: in [0, 1), growing ever more slowly. */
export function saturated(frequency: number): number {
  return frequency / (SATURATION + frequency);
}

/** The slots with the highest scores, of those accepted, best first. Equal scores are ordered by id. */
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

/** Words and their contributions as shares of the whole, heaviest first. Words that add nothing are left out. */
export function toMatchedTerms(
  found: readonly { readonly word: string; readonly value: number; readonly fields: readonly string[] }[],
): readonly MatchedTerm[] {
  const matched = found.filter(({ value }) => value > 0);
  const sum = matched.reduce((total, { value }) => total + value, 0);
  return matched
    .sort((a, b) => b.value - a.value)
    .map(({ word, value, fields }) => ({ term: word, fields, share: value / sum }));
}
