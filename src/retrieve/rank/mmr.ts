import type { Candidate } from "./scorer.ts";

export interface MmrOptions {
  /** 1 ranks by score alone, 0 as diversely as possible. */
  readonly lambda: number;
  /** The similarity of two tools by id, in [0, 1]. */
  readonly similarity: (a: string, b: string) => number;
}

/** Two tools this similar are near-duplicates. Lower similarity does not count in ordinary retrieval. */
const NEAR_DUPLICATE = 0.9;

/** A smaller range of scores is not scaled up to [0, 1]. */
const LEAST_SPAN = 0.05;

/** Maps similarity for ordinary retrieval: 0 up to the near-duplicate threshold, then rising to 1, so that only copies are displaced. */
export function nearDuplication(similarity: number): number {
  const excess = Math.max(0, Math.min(1, similarity) - NEAR_DUPLICATE) / (1 - NEAR_DUPLICATE);
  return excess * excess;
}

/**
 * Selects candidates by maximal marginal relevance. Each step greedily takes the candidate with the greatest λ · relevance − (1 − λ) · similarity to
 * the nearest candidate already taken. Relevance is the score rescaled between the worst and the best candidate: raw scores of one request often
 * differ by only a few hundredths, so similarity would outweigh them. Candidates come best first, and ties keep that order. If all candidates fit the
 * limit, the order does not change.
 */
export function selectDiverse(
  candidates: readonly Candidate[],
  limit: number,
  { lambda, similarity }: MmrOptions,
): {
  readonly selected: readonly Candidate[];
  /** Maps each candidate that the score alone would have selected to the most similar selected tool, by id. */
  readonly displaced: ReadonlyMap<string, string>;
} {
  if (candidates.length <= limit || lambda >= 1) return { selected: candidates.slice(0, limit), displaced: new Map() };

  const best = candidates[0]?.score ?? 0;
  const span = Math.max(LEAST_SPAN, best - (candidates.at(-1)?.score ?? 0));
  const remaining = candidates.map((candidate) => {
    return { candidate, relevance: 1 - (best - candidate.score) / span, likeness: 0, nearest: "", compared: 0 };
  });
  const selected: Candidate[] = [];

  /** Updates a candidate's similarity to all candidates taken so far. */
  function compare(entry: (typeof remaining)[number]): void {
    for (; entry.compared < selected.length; entry.compared++) {
      const takenId = selected[entry.compared]?.tool.id ?? "";
      const likeness = similarity(entry.candidate.tool.id, takenId);
      if (likeness <= entry.likeness) continue;
      entry.likeness = likeness;
      entry.nearest = takenId;
    }
  }

  while (selected.length < limit) {
    let next = 0;
    let greatest = -Infinity;
    for (const [index, entry] of remaining.entries()) {
      // Comparing two tools is expensive. Similarity only ever grows, so most candidates can be ruled out without a comparison.
      const valueOf = (): number => lambda * entry.relevance - (1 - lambda) * entry.likeness;
      if (valueOf() <= greatest) continue;
      compare(entry);
      const value = valueOf();
      if (value > greatest) [next, greatest] = [index, value];
    }
    const [taken] = remaining.splice(next, 1);
    if (taken === undefined) break;
    selected.push(taken.candidate);
  }

  const byScoreAlone = new Set(candidates.slice(0, limit));
  const displaced = remaining.filter(({ candidate }) => byScoreAlone.has(candidate));
  displaced.forEach(compare);
  return { selected, displaced: new Map(displaced.map(({ candidate, nearest }) => [candidate.tool.id, nearest])) };
}
