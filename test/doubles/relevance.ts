/** How many of a request's words a text has, in [0, 1]: what a double answers where the real one has a model. */
export function relevance(query: string, text: string): number {
  const wordsOf = (from: string): readonly string[] => from.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const known = new Set(wordsOf(text));
  const asked = wordsOf(query);
  return asked.length === 0 ? 0 : asked.filter((word) => known.has(word)).length / asked.length;
}
