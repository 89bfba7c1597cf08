import type { MatchedTerm } from "../catalog-engine.port.ts";
import {
  attainableBy,
  bestOf,
  clearScores,
  createScores,
  type FieldMeasures,
  measureFields,
  type QueryTerm,
  rarity,
  saturated,
  scoreDocuments,
  setScore,
  toMatchedTerms,
  weighted,
  weighTerms,
} from "./bm25f.ts";
import { LEXICAL_FIELDS, type FieldTexts, type LexicalField, SATURATION } from "./lexical-fields.ts";
import {
  addOccurrence,
  createPosting,
  FIELD_SPAN,
  lazyTerms,
  lowerBound,
  type Posting,
  removeDocument,
  restorePostings,
  savePostings,
} from "./posting.ts";
import { createTermVectors } from "./term-vectors.ts";
import { nameKey, spellingsOf, tokenize } from "./tokenize.ts";

export interface LexicalHit {
  readonly id: string;
  /** The share of the text's weight that the document covers, in [0, 1], comparable between texts. It is 1 only if the text is the document's name. */
  readonly score: number;
}

export interface LexicalImage {
  readonly postings: ReturnType<typeof savePostings>;
  readonly lengths: Float32Array;
  readonly names: readonly (readonly string[])[];
}

/** Below this share of all documents, scoring the documents individually is faster than scoring all. */
const FEW = 0.1;

const NAMESPACE = LEXICAL_FIELDS.indexOf("namespace");

export type LexicalIndex = ReturnType<typeof createLexicalIndex>;

/** Finds tools by the words of a request, with BM25F over the parts of a tool. Updated as tools are added and removed. */
export function createLexicalIndex() {
  const postings = new Map<string, Posting>();
  const slots = new Map<string, number>();
  const ids: (string | undefined)[] = [];
  const termsOfSlot: (Posting[] | undefined)[] = [];
  /** The terms of restored slots, computed on first use. */
  let restoredTerms: (slot: number) => Posting[] = () => [];
  let namesOfSlot: (readonly string[])[] = [];
  const freeSlots: number[] = [];
  /** Slots by name: a text that equals a tool's name means that tool, whatever the weights of its words. */
  const named = new Map<string, number | number[]>();
  /** The number of tokens per field of each slot, at the posting's key. */
  let lengths = new Float32Array(64 * FIELD_SPAN);
  const totalLength = LEXICAL_FIELDS.map(() => 0);
  const documentsWith = LEXICAL_FIELDS.map(() => 0);

  /** The scores of the current query. Reused, so that nothing is allocated per document. */
  let scratch = createScores(64);

  const vectors = createTermVectors((slot) => {
    const measures = measure();
    return termsOf(slot).map((posting) => [
      posting,
      rarity(posting.documents, slots.size) * saturated(frequency(measures, posting, slot, NAMESPACE)),
    ]);
  });

  function termsOf(slot: number): Posting[] {
    return (termsOfSlot[slot] ??= restoredTerms(slot));
  }

  function measure(): FieldMeasures {
    return measureFields({ totalLength, documentsWith });
  }

  function parse(text: string): readonly QueryTerm<Posting>[] {
    return weighTerms(text, (term) => postings.get(term), slots.size);
  }

  /** Fills `scratch` with the scores of every document that shares a term. */
  function scoreAll(text: string): void {
    scoreDocuments(parse(text), { lengths, measures: measure() }, scratch);
    for (const slot of slotsNamed(nameKey(text))) setScore(scratch, slot, 1);
  }

  /** Computes the same score as `scoreAll`, with the same rounding, for one document. */
  function scoreOf(
    slot: number,
    query: readonly QueryTerm<Posting>[],
    { measures, attainable }: { readonly measures: FieldMeasures; readonly attainable: number },
  ): number {
    let score = 0;
    for (const { posting, weight: worth } of query) {
      const frequencyHere = posting ? frequency(measures, posting, slot) : 0;
      if (frequencyHere === 0) continue;
      score = Math.fround(score + ((worth / attainable) * frequencyHere) / (SATURATION + frequencyHere));
    }
    return score;
  }

  /** Computes a term's weighted occurrences in one document, like `scoreDocuments`. Can skip one field. */
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

  function takeSlot(): number {
    const slot = freeSlots.pop() ?? ids.length;
    reserve(slot + 1);
    return slot;
  }

  function reserve(count: number): void {
    if (count <= scratch.values.length) return;
    const capacity = Math.max(count, scratch.values.length * 2);
    const grown = new Float32Array(capacity * FIELD_SPAN);
    grown.set(lengths);
    lengths = grown;
    scratch = createScores(capacity);
  }

  function addText(slot: number, field: number, text: string): void {
    let length = 0;
    const own = termsOf(slot);
    for (const { term } of tokenize(text)) {
      length++;
      let posting = postings.get(term);
      if (!posting) postings.set(term, (posting = createPosting(term)));
      if (addOccurrence(posting, slot, field)) own.push(posting);
    }
    lengths[slot * FIELD_SPAN + field] = length;
  }

  function countLengths(slot: number, by: 1 | -1): void {
    for (let field = 0; field < LEXICAL_FIELDS.length; field++) {
      const length = lengths[slot * FIELD_SPAN + field] ?? 0;
      totalLength[field] = (totalLength[field] ?? 0) + by * length;
      if (length > 0) documentsWith[field] = (documentsWith[field] ?? 0) + by;
    }
  }

  function slotsNamed(key: string): readonly number[] {
    const found = named.get(key) ?? [];
    return typeof found === "number" ? [found] : found;
  }

  function addName(key: string, slot: number): void {
    const sharing = named.get(key);
    if (sharing === undefined) named.set(key, slot);
    else if (typeof sharing === "number") named.set(key, [sharing, slot]);
    else sharing.push(slot);
  }

  /** Returns whether the document existed. */
  function remove(id: string): boolean {
    const slot = slots.get(id);
    if (slot === undefined) return false;
    for (const posting of termsOf(slot)) {
      removeDocument(posting, slot);
      if (posting.documents === 0) postings.delete(posting.term);
    }
    for (const key of namesOfSlot[slot] ?? []) {
      const others = slotsNamed(key).filter((other) => other !== slot);
      if (others.length > 0) named.set(key, others);
      else named.delete(key);
    }
    countLengths(slot, -1);
    lengths.fill(0, slot * FIELD_SPAN, (slot + 1) * FIELD_SPAN);
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

    /** Adds a document, or replaces the one with this id. Returns its slot, a small number that identifies it until it is removed. */
    upsert(id: string, texts: FieldTexts): number {
      remove(id);
      const slot = takeSlot();
      slots.set(id, slot);
      ids[slot] = id;
      termsOfSlot[slot] = [];
      LEXICAL_FIELDS.forEach((field, index) => addText(slot, index, texts[field]));
      countLengths(slot, 1);
      const keys = spellingsOf(texts);
      namesOfSlot[slot] = keys;
      for (const key of keys) addName(key, slot);
      vectors.clear();
      return slot;
    },

    remove,

    /** Returns documents that share a word with the text, best first. `accept` applies before the cut, and defaults to all. */
    search(
      text: string,
      { limit, accept }: { readonly limit: number; readonly accept?: (slot: number) => boolean },
    ): readonly LexicalHit[] {
      scoreAll(text);
      try {
        return bestOf(scratch, ids, limit, accept).map(({ row, score }) => ({ id: ids[row] ?? "", score }));
      } finally {
        clearScores(scratch);
      }
    },

    /** Returns the score of each id, in order; 0 for unknown ids and for documents that share no word with the text. */
    scores(text: string, wanted: readonly string[]): readonly number[] {
      if (wanted.length > FEW * slots.size) {
        scoreAll(text);
        const found = wanted.map((id) => scratch.values[slots.get(id) ?? -1] ?? 0);
        clearScores(scratch);
        return found;
      }
      const query = parse(text);
      const how = { measures: measure(), attainable: attainableBy(query) };
      const meant = slotsNamed(nameKey(text));
      return wanted.map((id) => {
        const slot = slots.get(id);
        return slot === undefined ? 0 : meant.includes(slot) ? 1 : scoreOf(slot, query, how);
      });
    },

    /** Returns a function that lists the words of a text that occur in a document, heaviest first, with each word's share of the score. */
    explain(text: string): (id: string) => readonly MatchedTerm[] {
      const terms = parse(text);
      const measures = measure();
      return (id) => {
        const slot = slots.get(id);
        if (slot === undefined) return [];
        return toMatchedTerms(
          terms.flatMap(({ word, posting, weight: worth }) => {
            if (!posting) return [];
            return [
              { word, value: worth * saturated(frequency(measures, posting, slot)), fields: fieldsWith(posting, slot) },
            ];
          }),
        );
      };
    },

    /** Returns the cosine of two documents' weighted terms, without terms of their namespaces, in [0, 1]: 1 for copies, 0 if one is unknown. */
    similarity(a: string, b: string): number {
      const slotA = slots.get(a);
      const slotB = slots.get(b);
      return slotA === undefined || slotB === undefined ? 0 : vectors.cosine(slotA, slotB);
    },

    /** Returns the whole index without ids, to be copied immediately and restored later. */
    save: (): LexicalImage => ({
      postings: savePostings([...postings.values()]),
      lengths: lengths.subarray(0, ids.length * FIELD_SPAN),
      names: namesOfSlot,
    }),

    /** Fills this empty index from a saved image. `given` has the ids of its slots. */
    restore(image: LexicalImage, given: readonly (string | undefined)[]): void {
      const restored = restorePostings(image.postings);
      for (const posting of restored) postings.set(posting.term, posting);
      reserve(given.length);
      lengths.set(image.lengths);
      namesOfSlot = [...image.names];
      for (const [slot, id] of given.entries()) {
        ids.push(id);
        if (id === undefined) {
          freeSlots.push(slot);
          continue;
        }
        slots.set(id, slot);
        countLengths(slot, 1);
        for (const name of namesOfSlot[slot] ?? []) addName(name, slot);
      }
      restoredTerms = lazyTerms(restored, given.length);
    },
  };
}

function fieldsWith(posting: Posting, slot: number): LexicalField[] {
  const fields: LexicalField[] = [];
  const end = lowerBound(posting, (slot + 1) * FIELD_SPAN);
  for (let at = lowerBound(posting, slot * FIELD_SPAN); at < end; at++) {
    const field = LEXICAL_FIELDS[(posting.keys[at] ?? 0) & (FIELD_SPAN - 1)];
    if (field !== undefined) fields.push(field);
  }
  return fields;
}
