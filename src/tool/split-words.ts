// An acronym with a plural s (`IDs`), an acronym up to the next capitalised word (`HTTPServer`), a word, digits.
const ASCII_WORDS = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const UNICODE_WORDS = String.raw`\p{Lu}{2,}s(?![\p{Ll}\p{M}])|\p{Lu}+(?![\p{Ll}\p{M}])|[\p{Lu}\p{Lt}]?[\p{Ll}\p{M}]+|[\p{Lo}\p{Lm}\p{M}]+|\p{Lt}|\p{N}+`;
const NON_ASCII = /\P{ASCII}/u;

/** Created on first use: as a literal it would cost every start a millisecond. */
let unicodeWords: RegExp | undefined;

/** The words of an identifier or text in lower case, split at other characters, camelCase humps, and between letters and digits. */
export function splitWords(text: string): string[] {
  const words = NON_ASCII.test(text)
    ? text.normalize("NFKC").match((unicodeWords ??= new RegExp(UNICODE_WORDS, "gu")))
    : text.match(ASCII_WORDS);
  return words?.map((word) => word.toLowerCase()) ?? [];
}
