/** The maximum number of fields per row. A posting's key is `slot * FIELD_SPAN + field`. */
export const FIELD_SPAN = 8;

/** The occurrences of one term: keys in ascending order, each with its count. */
export interface Posting {
  readonly term: string;
  keys: Uint32Array;
  counts: Uint16Array;
  length: number;
  /** The number of documents with the term. */
  documents: number;
  /** The last document with an added occurrence, so that each document is counted once. */
  lastSlot: number;
}

export function createPosting(term: string): Posting {
  return { term, keys: new Uint32Array(2), counts: new Uint16Array(2), length: 0, documents: 0, lastSlot: -1 };
}

/** Counts one occurrence. Returns true if it is the term's first in the document. */
export function addOccurrence(posting: Posting, slot: number, field: number): boolean {
  const key = slot * FIELD_SPAN + field;
  const at =
    posting.length > 0 && (posting.keys[posting.length - 1] ?? 0) < key ? posting.length : lowerBound(posting, key);
  if (at < posting.length && posting.keys[at] === key) {
    posting.counts[at] = Math.min((posting.counts[at] ?? 0) + 1, 0xffff);
  } else {
    insert(posting, at, key);
  }
  if (posting.lastSlot === slot) return false;
  posting.lastSlot = slot;
  posting.documents++;
  return true;
}

/** Removes the occurrences in one document. */
export function removeDocument(posting: Posting, slot: number): void {
  const from = lowerBound(posting, slot * FIELD_SPAN);
  const to = lowerBound(posting, (slot + 1) * FIELD_SPAN);
  posting.keys.copyWithin(from, to, posting.length);
  posting.counts.copyWithin(from, to, posting.length);
  posting.length -= to - from;
  posting.documents--;
  if (posting.lastSlot === slot) posting.lastSlot = -1;
}

/** Returns the index of the first key that is not below `key`. */
export function lowerBound(posting: Posting, key: number): number {
  let low = 0;
  let high = posting.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((posting.keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insert(posting: Posting, at: number, key: number): void {
  if (posting.length === posting.keys.length) {
    const room = Math.max(posting.length * 2, 2);
    const keys = new Uint32Array(room);
    const counts = new Uint16Array(room);
    keys.set(posting.keys);
    counts.set(posting.counts);
    posting.keys = keys;
    posting.counts = counts;
  }
  if (at < posting.length) {
    posting.keys.copyWithin(at + 1, at, posting.length);
    posting.counts.copyWithin(at + 1, at, posting.length);
  }
  posting.keys[at] = key;
  posting.counts[at] = 1;
  posting.length++;
}

export function savePostings(postings: readonly Posting[]) {
  const ends = new Uint32Array(postings.length);
  let end = 0;
  postings.forEach(({ length }, at) => (ends[at] = end += length));
  const keys = new Uint32Array(end);
  const counts = new Uint16Array(end);
  postings.forEach((posting, at) => {
    const start = (ends[at] ?? 0) - posting.length;
    keys.set(posting.keys.subarray(0, posting.length), start);
    counts.set(posting.counts.subarray(0, posting.length), start);
  });
  return {
    terms: postings.map(({ term }) => term),
    documents: Uint32Array.from(postings, ({ documents }) => documents),
    ends,
    keys,
    counts,
  };
}

/** Splits saved postings. They share one buffer until a posting grows and gets its own. */
export function restorePostings(saved: ReturnType<typeof savePostings>): readonly Posting[] {
  const { terms, documents, ends, keys, counts } = saved;
  let start = 0;
  return terms.map((term, at) => {
    const end = ends[at] ?? start;
    const posting = {
      term,
      keys: keys.subarray(start, end),
      counts: counts.subarray(start, end),
      length: end - start,
      documents: documents[at] ?? 0,
      lastSlot: -1,
    };
    start = end;
    return posting;
  });
}

/** Returns a function that finds the terms of a slot. Its first call reads all postings. */
export function lazyTerms(postings: readonly Posting[], slots: number): (slot: number) => Posting[] {
  let ends: Uint32Array | undefined;
  let numbers = new Uint32Array(0);
  const eachDocument = (visit: (slot: number, posting: number) => unknown): void =>
    postings.forEach(({ keys, length }, number) => {
      let last = -1;
      for (let at = 0; at < length; at++) {
        const slot = (keys[at] ?? 0) >>> 3;
        if (slot !== last && slot < slots) visit(slot, number);
        last = slot;
      }
    });
  const read = (): Uint32Array => {
    const starts = new Uint32Array(slots + 1);
    const count = (at: number, by: number): number => (starts[at] = (starts[at] ?? 0) + by);
    eachDocument((slot) => count(slot + 1, 1));
    for (let slot = 0; slot < slots; slot++) count(slot + 1, starts[slot] ?? 0);
    numbers = new Uint32Array(starts[slots] ?? 0);
    // Each start moves to the end of its slot, where the next slot starts.
    eachDocument((slot, number) => (numbers[count(slot, 1) - 1] = number));
    return starts;
  };
  return (slot) => {
    ends ??= read();
    const own = slot < slots ? numbers.subarray(slot === 0 ? 0 : ends[slot - 1], ends[slot]) : [];
    return Array.from(own, (number) => postings[number]).filter((posting) => posting !== undefined);
  };
}
