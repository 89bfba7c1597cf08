import type { ToolDraft } from "../../tool/draft.ts";

/** The baseline: textbook BM25 over name, description and parameter names, scoring every tool for every query. */
export function createPlainBm25(tools: readonly ToolDraft[]): (query: string, limit: number) => readonly number[] {
  const documents = tools.map(({ name, description, parameters }) => {
    const counts = new Map<string, number>();
    const words = split(`${name} ${description} ${Object.keys(parameters?.properties ?? {}).join(" ")}`);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { counts, length: words.length };
  });
  const frequencies = new Map<string, number>();
  for (const { counts } of documents)
    for (const word of counts.keys()) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  return (query, limit) => {
    const words = split(query);
    const scored = documents.map(({ counts, length }, index) => {
      let score = 0;
      for (const word of words) {
        const count = counts.get(word);
        if (count === undefined) continue;
        const frequency = frequencies.get(word) ?? 0;
        const idf = Math.log(1 + (documents.length - frequency + 0.5) / (frequency + 0.5));
        score += (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / average));
      }
      return { index, score };
    });
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ index }) => index);
  };
}

function split(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}
