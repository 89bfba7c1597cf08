const VOWEL = /[aeiouy]/;

/**
 * Reduces an English word to a form that it shares with its plural, -ing and -ed forms: `queries`, `querying`, `queried` and `query` have the same
 * form. The form may not be a word: it is compared, never shown. Words of other languages lose at most a letter, in requests and tools alike.
 */
export function stem(word: string): string {
  // "news" is not the plural of "new", and both are frequent in tools.
  if (word.length < 4 || word === "news") return word;
  const base = withoutSuffix(withoutPlural(word));
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base.length > 3 ? withFinalI(base) : base;
}

function withoutPlural(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|zz)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

function withoutSuffix(word: string): string {
  const cut = word.endsWith("ing") ? 3 : word.endsWith("ed") ? 2 : 0;
  if (cut === 0) return word;
  const base = word.slice(0, -cut);
  // For "string", "bed" and "need": the rest must be a word with a vowel, and "ee" does not end a past tense.
  if (base.length < 3 || !VOWEL.test(base) || base.endsWith("e")) return word;
  const last = base.at(-1) ?? "";
  const doubled = last === base.at(-2) && !"lsz".includes(last);
  return doubled ? base.slice(0, -1) : base;
}

/** `query`, and `queri` from `queried`, both become `queri`. */
function withFinalI(word: string): string {
  return word.endsWith("y") ? `${word.slice(0, -1)}i` : word;
}
