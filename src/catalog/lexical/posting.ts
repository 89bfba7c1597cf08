/** Fields a row can have: a posting's key is `slot * FIELD_SPAN + field`. */
export const FIELD_SPAN = 8;

/** Where one term stands: keys in ascending order, each with how often it stands there. */
export interface Posting {
  readonly term: string;
  keys: Uint32Array;
  counts: Uint16Array;
  length: number;
  /** In how many documents. */
  documents: number;
  /** The document last added to, so that each is counted once. */
  lastSlot: number;
}

/** A term that stands nowhere yet. */
export function createPosting(term: string): Posting {
  return { term, keys: new Uint32Array(2), counts: new Uint16Array(2), length: 0, documents: 0, lastSlot: -1 };
}

/** Counts one more occurrence. Returns true where it is the document's first of this term. */
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

/** Forgets a document that has the term. */
export function removeDocument(posting: Posting, slot: number): void {
  const from = lowerBound(posting, slot * FIELD_SPAN);
  const to = lowerBound(posting, (slot + 1) * FIELD_SPAN);
  posting.keys.copyWithin(from, to, posting.length);
  posting.counts.copyWithin(from, to, posting.length);
  posting.length -= to - from;
  posting.documents--;
  if (posting.lastSlot === slot) posting.lastSlot = -1;
}

/** The first place whose key is not below `key`. */
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
    const keys = new Uint32Array(posting.length * 2);
    const counts = new Uint16Array(posting.length * 2);
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
