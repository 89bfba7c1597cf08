import type { MatchedTerm } from "../catalog-engine.port.ts";
import {
  attainableBy,
  clearScores,
  createScores,
  type FieldMeasures,
  measureFields,
  type QueryTerm,
  rarity,
  scoreDocuments,
  setScore,
  toMatchedTerms,
  weighted,
  weighTerms,
} from "./bm25f.ts";
import {
  DEFAULT_LEXICAL_SETTINGS,
  LEXICAL_FIELDS,
  type FieldTexts,
  type LexicalField,
  type LexicalSettings,
} from "./lexical-fields.ts";
import { addOccurrence, createPosting, FIELD_SPAN, lowerBound, type Posting, removeDocument } from "./posting.ts";
import { createTermVectors } from "./term-vectors.ts";
import { nameKey, spellingsOf, tokenize } from "./tokenize.ts";
import { createTopK } from "../top-k.ts";

/** Finds tools by the words of a request: BM25F over the parts of a tool, kept up to date as tools come and go. */
export interface LexicalIndex {
  readonly size: number;
  /** Adds a document or replaces the one with this id. Returns its slot: a small number, its own until it is removed. */
  upsert(id: string, texts: FieldTexts): number;
  /** Returns whether there was one. */
  remove(id: string): boolean;
  /** Documents that share a word with the text, best first; the filter runs before the cut. */
  search(text: string, query: LexicalQuery): readonly LexicalHit[];
  /** The score of each id, in order; 0 for an unknown one or one that shares no word with the text. */
  scores(text: string, ids: readonly string[]): readonly number[];
  /** Words of the text found in a document, heaviest first, with their share in its score. */
  explain(text: string, id: string): readonly MatchedTerm[];
  /** Cosine of two documents' weighted terms without those of their namespaces, in [0, 1]: 1 for copies. 0 where one is unknown. */
  similarity(a: string, b: string): number;
}

export interface LexicalQuery {
  readonly limit: number;
  /** All where absent. */
  readonly accept?: (slot: number) => boolean;
}

/** A document found. */
export interface LexicalHit {
  readonly id: string;
  /** How much of the text's weight the document covers, in [0, 1], comparable between texts. 1 only where the text is the document's name. */
  readonly score: number;
}

/** Up to this share of all documents, looking each one up is faster than scoring all. */
const FEW = 0.1;

const NAMESPACE = LEXICAL_FIELDS.indexOf("namespace");

export function createLexicalIndex(settings: LexicalSettings = DEFAULT_LEXICAL_SETTINGS): LexicalIndex {
  const { saturation } = settings;
  const postings = new Map<string, Posting>();
  const slots = new Map<string, number>();
  const ids: (string | undefined)[] = [];
  const termsOfSlot: Posting[][] = [];
  const namesOfSlot: (readonly string[])[] = [];
  const freeSlots: number[] = [];
  /** Slots by name: a text that is a tool's name means that tool, whatever its words weigh. */
  const named = new Map<string, Set<number>>();
  /** Tokens of each field of each slot, at the posting's key. */
  let lengths = new Float32Array(64 * FIELD_SPAN);
  const totalLength = LEXICAL_FIELDS.map(() => 0);
  const documentsWith = LEXICAL_FIELDS.map(() => 0);

  /** Scores of the query under way. Reused: nothing is allocated per document. */
  let scratch = createScores(64);

  const vectors = createTermVectors((slot) => {
    const measures = measure();
    return (termsOfSlot[slot] ?? []).map((posting) => [
      posting,
      rarity(posting.documents, slots.size) * saturated(frequency(measures, posting, slot, NAMESPACE)),
    ]);
  });

  function measure(): FieldMeasures {
    return measureFields(settings, { totalLength, documentsWith });
  }

  function parse(text: string): readonly QueryTerm<Posting>[] {
    return weighTerms(text, (term) => postings.get(term), slots.size);
  }

  /** Fills the scratch with the scores of every document that shares a term. */
  function scoreAll(text: string): void {
    scoreDocuments(parse(text), { lengths, measures: measure(), saturation }, scratch);
    for (const slot of named.get(nameKey(text)) ?? []) setScore(scratch, slot, 1);
  }

  /** The score `scoreAll` gives one document, rounded at the same places, for where only a few are asked about. */
  function scoreOf(
    slot: number,
    query: readonly QueryTerm<Posting>[],
    { measures, attainable }: { readonly measures: FieldMeasures; readonly attainable: number },
  ): number {
    let score = 0;
    for (const { posting, weight: worth } of query) {
      const frequencyHere = posting ? frequency(measures, posting, slot) : 0;
      if (frequencyHere === 0) continue;
      score = Math.fround(score + ((worth / attainable) * frequencyHere) / (saturation + frequencyHere));
    }
    return score;
  }

  /** A term's weighted occurrences in one document, as `scoreDocuments` counts them. One field can be left out. */
  function frequency(measures: FieldMeasures, posting: Posting, slot: number, leftOut?: number): number {
    let sum = 0;
    for (
      let at = lowerBound(posting, slot * FIELD_SPAN);
      at < posting.length && (posting.keys[at] ?? 0) >>> 3 === slot;
      at++
    ) {
      const key = posting.keys[at] ?? 0;
      const field = key & (FIELD_SPAN - 1);
      if (field !== leftOut) sum += weighted(measures, field, posting.counts[at] ?? 0, lengths[key] ?? 0);
    }
    return sum;
  }

  function saturated(occurrences: number): number {
    return occurrences / (saturation + occurrences);
  }

  function takeSlot(): number {
    const slot = freeSlots.pop() ?? ids.length;
    if (slot < scratch.values.length) return slot;
    const capacity = scratch.values.length * 2;
    const grown = new Float32Array(capacity * FIELD_SPAN);
    grown.set(lengths);
    lengths = grown;
    scratch = createScores(capacity);
    return slot;
  }

  function addText(slot: number, field: number, text: string): void {
    let length = 0;
    const own = termsOfSlot[slot] ?? [];
    for (const { term } of tokenize(text)) {
      length++;
      let posting = postings.get(term);
      if (!posting) postings.set(term, (posting = createPosting(term)));
      if (addOccurrence(posting, slot, field)) own.push(posting);
    }
    lengths[slot * FIELD_SPAN + field] = length;
    totalLength[field] = (totalLength[field] ?? 0) + length;
    if (length > 0) documentsWith[field] = (documentsWith[field] ?? 0) + 1;
  }

  function removeLengths(slot: number): void {
    LEXICAL_FIELDS.forEach((_, field) => {
      const length = lengths[slot * FIELD_SPAN + field] ?? 0;
      totalLength[field] = (totalLength[field] ?? 0) - length;
      if (length > 0) documentsWith[field] = (documentsWith[field] ?? 0) - 1;
      lengths[slot * FIELD_SPAN + field] = 0;
    });
  }

  function remove(id: string): boolean {
    const slot = slots.get(id);
    if (slot === undefined) return false;
    for (const posting of termsOfSlot[slot] ?? []) {
      removeDocument(posting, slot);
      if (posting.documents === 0) postings.delete(posting.term);
    }
    for (const key of namesOfSlot[slot] ?? []) {
      const sharing = named.get(key);
      sharing?.delete(slot);
      if (sharing?.size === 0) named.delete(key);
    }
    removeLengths(slot);
    termsOfSlot[slot] = [];
    namesOfSlot[slot] = [];
    ids[slot] = undefined;
    slots.delete(id);
    freeSlots.push(slot);
    vectors.clear();
    return true;
  }

  return {
    get size() {
      return slots.size;
    },

    upsert(id, texts) {
      remove(id);
      const slot = takeSlot();
      slots.set(id, slot);
      ids[slot] = id;
      termsOfSlot[slot] = [];
      LEXICAL_FIELDS.forEach((field, index) => addText(slot, index, texts[field]));
      const keys = spellingsOf(texts);
      namesOfSlot[slot] = keys;
      for (const key of keys) {
        const sharing = named.get(key);
        if (sharing) sharing.add(slot);
        else named.set(key, new Set([slot]));
      }
      vectors.clear();
      return slot;
    },

    remove,

    search(text, { limit, accept }) {
      scoreAll(text);
      try {
        const best = createTopK(limit, (a, b) => (ids[a] ?? "") < (ids[b] ?? ""));
        for (let index = 0; index < scratch.count; index++) {
          const slot = scratch.touched[index] ?? 0;
          if (accept === undefined || accept(slot)) best.offer(scratch.values[slot] ?? 0, slot);
        }
        return best.take().map(({ row, score }) => ({ id: ids[row] ?? "", score }));
      } finally {
        clearScores(scratch);
      }
    },

    scores(text, wanted) {
      if (wanted.length > FEW * slots.size) {
        scoreAll(text);
        const found = wanted.map((id) => scratch.values[slots.get(id) ?? -1] ?? 0);
        clearScores(scratch);
        return found;
      }
      const query = parse(text);
      const how = { measures: measure(), attainable: attainableBy(query) };
      const meant = named.get(nameKey(text));
      return wanted.map((id) => {
        const slot = slots.get(id);
        return slot === undefined ? 0 : meant?.has(slot) ? 1 : scoreOf(slot, query, how);
      });
    },

    explain(text, id) {
      const slot = slots.get(id);
      if (slot === undefined) return [];
      const measures = measure();
      return toMatchedTerms(
        parse(text).flatMap(({ word, posting, weight: worth }) => {
          if (!posting) return [];
          return [
            { word, value: worth * saturated(frequency(measures, posting, slot)), fields: fieldsWith(posting, slot) },
          ];
        }),
      );
    },

    similarity(a, b) {
      const slotA = slots.get(a);
      const slotB = slots.get(b);
      return slotA === undefined || slotB === undefined ? 0 : vectors.cosine(slotA, slotB);
    },
  };
}

function fieldsWith(posting: Posting, slot: number): LexicalField[] {
  const first = lowerBound(posting, slot * FIELD_SPAN);
  const end = lowerBound(posting, (slot + 1) * FIELD_SPAN);
  return [...posting.keys.subarray(first, end)].flatMap((key) => LEXICAL_FIELDS[key & (FIELD_SPAN - 1)] ?? []);
}
