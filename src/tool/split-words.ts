// An acronym with a plural s (`IDs`), an acronym up to the next capitalised word (`HTTPServer`), a word, or digits.
const ASCII_WORDS = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const UNICODE_WORDS = String.raw`\p{Lu}{2,}s(?![\p{Ll}\p{M}])|\p{Lu}+(?![\p{Ll}\p{M}])|[\p{Lu}\p{Lt}]?[\p{Ll}\p{M}]+|[\p{Lo}\p{Lm}\p{M}]+|\p{Lt}|\p{N}+`;
const NON_ASCII = /\P{ASCII}/u;

/** Created on first use. A literal would delay every start by a millisecond. */
let unicodeWords: RegExp | undefined;

/** Splits an identifier or text into lower-case words: at other characters, at camelCase humps, and between letters and digits. */
export function splitWords(text: string): string[] {
  const words = NON_ASCII.test(text)
    ? text.normalize("NFKC").match((unicodeWords ??= new RegExp(UNICODE_WORDS, "gu")))
    : text.match(ASCII_WORDS);
  return words?.map((word) => word.toLowerCase()) ?? [];
}
