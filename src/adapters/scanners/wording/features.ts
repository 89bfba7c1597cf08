/** The number of hash buckets of features. Each bucket has one weight. */
export const BUCKETS: number = 2 ** 19;

/** Window sizes in tokens: about a sentence, and about a paragraph. */
export const WINDOWS: readonly number[] = [12, 28];

/** Shorter windows are scored as if they had this many tokens, so two strong words alone do not decide. */
export const SHORTEST: number = 12;

/** The scored features of a text: for each token, the buckets of the n-grams that end with it. */
export interface TextFeatures {
  /** The start and end of each token in the text, in UTF-16 code units. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Buckets of all tokens, concatenated. */
  readonly buckets: Int32Array;
  /** Where each token's buckets start in `buckets`. The last entry is the end of the last token's buckets. */
  readonly offsets: Int32Array;
}

// The name before an @ is limited and must start a run. Otherwise, a long run of letters and dots would be matched again from each letter.
const TOKEN =
  /(?<address>(?:https?|wss?|ftp|file):\/\/[^\s"'<>)\]]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+|(?:~|\.{1,2})?\/[\w.~-]+(?:\/[\w.~-]*)*)|(?<number>\d+(?:[.,:]\d+)*)|(?<single>[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])|(?<word>[\p{L}\p{M}]+(?:['’]\p{L}+)?)/giu;

const STEM = 5;
/** The widest gap between the two stems of a skip-gram. */
const WIDEST_GAP = 4;
const GRAM = 4;

// One number per kind of feature, so a word and a stem with the same spelling differ.
const KIND = { word: 1, stem: 2, wordPair: 3, stemPair: 4, skip: 5, wordTriple: 6, characters: 7 } as const;

/** Reads the features of a normalised text, in linear time. */
export function featuresOf(text: string): TextFeatures {
  const starts: number[] = [];
  const ends: number[] = [];
  const offsets: number[] = [0];
  const buckets: number[] = [];
  const words: number[] = [];
  const stems: number[] = [];

  for (const match of text.matchAll(TOKEN)) {
    const [found] = match;
    const { address, number, single } = match.groups ?? {};
    const token = address !== undefined ? "\u0001" : number !== undefined ? "\u0002" : found.toLowerCase();
    const word = hashText(token);
    const stem = hashText(token.slice(0, STEM));
    const at = words.length;
    words.push(word);
    stems.push(stem);
    starts.push(match.index);
    ends.push(match.index + found.length);

    const [before = 0, twoBefore = 0] = [words[at - 1], words[at - 2]];
    buckets.push(bucket(KIND.word, word));
    if (at >= 1) buckets.push(bucket(KIND.wordPair, before, word));
    if (at >= 2) buckets.push(bucket(KIND.wordTriple, twoBefore, before, word));
    // A single character has no stem, and pairs of distant characters are not informative.
    if (single === undefined) {
      buckets.push(bucket(KIND.stem, stem));
      if (at >= 1) buckets.push(bucket(KIND.stemPair, stems[at - 1] ?? 0, stem));
      for (let gap = 2; gap <= WIDEST_GAP && gap <= at; gap++)
        buckets.push(bucket(KIND.skip, gap, stems[at - gap] ?? 0, stem));
    }
    if (/\P{ASCII}/u.test(token))
      for (let from = 0; from + GRAM <= token.length; from++)
        buckets.push(bucket(KIND.characters, hashText(token.slice(from, from + GRAM))));
    offsets.push(buckets.length);
  }
  return { starts, ends, buckets: Int32Array.from(buckets), offsets: Int32Array.from(offsets) };
}

/** FNV-1a over the code units of a text. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** FNV-1a over numbers, mixed once more because neighbouring inputs would get neighbouring buckets. */
function bucket(...parts: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    hash = Math.imul(hash ^ part, 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  }
  return (hash ^ (hash >>> 13)) & (BUCKETS - 1);
}
