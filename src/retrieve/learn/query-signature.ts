/** The content words of a request as numbers: small, and not readable as text. */
export type QuerySignature = readonly number[];

/** The words of a text that carry meaning, in a form that their inflections share. */
export type TermsOf = (text: string) => readonly { readonly term: string }[];

/** Further words add little, and would fill the memory with rare terms. */
const MOST_TERMS = 24;

/** Hashes the distinct words of a request. Bare numbers are left out: they identify one order or one day, not a task. */
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
