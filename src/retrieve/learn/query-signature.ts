/** The content words of a request as hashes, which are small and not readable. */
export type QuerySignature = readonly number[];

/** Returns the content words of a text, in a form that their inflections share. */
export type TermsOf = (text: string) => readonly { readonly term: string }[];

/** Further words add little, and would fill the memory with rare terms. */
const MOST_TERMS = 24;

/** Hashes the distinct words of a request. Omits plain numbers, because they identify an order or a day, not a task. */
export function querySignature(text: string, termsOf: TermsOf): QuerySignature {
  const hashes = new Set<number>();
  for (const { term } of termsOf(text)) {
    if (/^\p{N}+$/u.test(term)) continue;
    hashes.add(hash(term));
    if (hashes.size === MOST_TERMS) break;
  }
  return [...hashes];
}

/** FNV-1a, 32 bits. */
function hash(term: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < term.length; index++) {
    value = Math.imul(value ^ term.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
