import type { Candidate } from "./scorer.ts";

/** The weight and the measure of similarity in a selection. */
export interface MmrOptions {
  /** 1: by score alone; 0: as different as possible. */
  readonly lambda: number;
  /** The similarity of two tools by id, in [0, 1]. */
  readonly similarity: (a: string, b: string) => number;
}

/** Two tools this similar do the same; from here up, similarity counts in ordinary retrieval. */
const NEAR_DUPLICATE = 0.9;

/** Scores closer together than this count as equal and are not spread. */
const LEAST_SPAN = 0.05;

/** The similarity that ordinary retrieval counts: 0 up to the near-duplicate floor, then rising to 1, so that only copies are displaced. */
export function nearDuplication(similarity: number): number {
  const excess = Math.max(0, Math.min(1, similarity) - NEAR_DUPLICATE) / (1 - NEAR_DUPLICATE);
  return excess * excess;
}

/**
 * Maximal marginal relevance, greedily: each step takes the candidate with the greatest λ · relevance − (1 − λ) · likeness to the nearest
 * candidate already taken. Relevance is the score between the worst candidate's and the best one's, so that it has the scale of likeness:
 * scores of one request often lie within a few hundredths, where any likeness would outweigh them. Candidates come best first, and ties
 * keep that order. If all candidates fit the limit, the order stays as it is.
 */
export function selectDiverse(
  candidates: readonly Candidate[],
  limit: number,
  { lambda, similarity }: MmrOptions,
): {
  readonly selected: readonly Candidate[];
  /** The id of a candidate that its score alone would have selected, mapped to the id of the selected tool most like it. */
  readonly displaced: ReadonlyMap<string, string>;
} {
  if (candidates.length <= limit || lambda >= 1) return { selected: candidates.slice(0, limit), displaced: new Map() };

  const best = candidates[0]?.score ?? 0;
  const span = Math.max(LEAST_SPAN, best - (candidates.at(-1)?.score ?? 0));
  const remaining = candidates.map((candidate) => {
    return { candidate, relevance: 1 - (best - candidate.score) / span, likeness: 0, nearest: "", compared: 0 };
  });
  const selected: Candidate[] = [];

  /** Updates a candidate's likeness with all candidates taken so far. */
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
      // Comparing two tools is expensive. Likeness only ever grows, so most candidates can be ruled out without a comparison.
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
