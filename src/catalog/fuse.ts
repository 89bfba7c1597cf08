import { calibrateLexical } from "./calibrate-lexical.ts";

/** A tool that may be an answer, and what each ranker says of it. */
export interface Candidate {
  readonly id: string;
  /** Share of the request's weight covered by the tool's words, in [0, 1]; 1 only where the request is the tool's name. */
  readonly lexical: number;
  /** Cosine of the vectors; undefined where the tool has none. */
  readonly cosine: number | undefined;
}

/** A tool with its place in the order as one absolute number. */
export interface FusedHit {
  readonly id: string;
  readonly semanticScore: number;
}

/** How an embedder's cosines are read. */
export interface DenseScale {
  /** To [0, 1], with 0.5 where a match is worth showing. */
  readonly calibrate: (cosine: number) => number;
  /** A cosine that means nothing at all: the bottom of the scale where every candidate is better. */
  readonly floor: number;
}

const DENSE_SHARE = 0.8;

/**
 * Orders candidates by 0.8 · meaning + 0.2 · words, each scaled between the worst and the best candidate, then multiplies by how good the
 * best one is in absolute terms: the order is the fusion's, the size says whether the request is served at all. A tool without a vector is
 * judged by its words alone, and where no word matches anything, meaning decides alone.
 */
export function fuse(candidates: readonly Candidate[], scale: DenseScale): FusedHit[] {
  const cosines = candidates.flatMap(({ cosine }) => cosine ?? []);
  // The scale's floor joins in, or the lesser of two good tools would be the worst candidate and score nothing.
  const lowest = Math.min(scale.floor, ...cosines);
  const span = Math.max(...cosines, lowest) - lowest;
  const mostCovered = Math.max(0, ...candidates.map(({ lexical }) => lexical));
  const lexicalShare = mostCovered > 0 ? 1 - DENSE_SHARE : 0;
  const strength = Math.max(0, ...candidates.map((candidate) => absoluteScore(candidate, scale)));

  return candidates
    .map((candidate) => {
      const words = mostCovered > 0 ? candidate.lexical / mostCovered : 0;
      const meaning = candidate.cosine === undefined || span === 0 ? undefined : (candidate.cosine - lowest) / span;
      const fused =
        candidate.lexical === 1 || meaning === undefined ? words : (1 - lexicalShare) * meaning + lexicalShare * words;
      return { id: candidate.id, semanticScore: Math.min(fused * strength, 1) };
    })
    .sort((a, b) => b.semanticScore - a.semanticScore || (a.id < b.id ? -1 : 1));
}

function absoluteScore({ lexical, cosine }: Candidate, { calibrate }: DenseScale): number {
  return lexical === 1 || cosine === undefined ? calibrateLexical(lexical) : calibrate(cosine);
}

/** Reads an embedder's cosines; one that does not calibrate means the cosine itself. */
export function denseScale(calibrate?: (cosine: number) => number): DenseScale {
  if (!calibrate) return { calibrate: (cosine) => Math.min(Math.max(cosine, 0), 1), floor: 0 };
  let low = -1;
  let high = 1;
  // The highest cosine that still means next to nothing, by bisection: calibration only ever rises.
  for (let round = 0; round < 30; round++) {
    const middle = (low + high) / 2;
    if (calibrate(middle) < NEXT_TO_NOTHING) low = middle;
    else high = middle;
  }
  return { calibrate, floor: low };
}

const NEXT_TO_NOTHING = 0.02;
