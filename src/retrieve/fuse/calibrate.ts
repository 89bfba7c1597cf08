/** The coverage from which a tool is relevant. On three labelled sets, it keeps 97 % of the correct tools among the first five of the word search. */
const WORTH_SHOWING = 0.025;

/** Maps a lexical score (the share of a request's weight that a tool covers) to [0, 1], monotonically, with 0.5 at the relevance threshold. */
export function calibrateLexical(coverage: number): number {
  // This form preserves the order despite rounding.
  return coverage <= 0 ? 0 : 1 / (1 + WORTH_SHOWING / coverage);
}

/** The measured properties of a shipped embedding model. */
export interface MeasuredModel {
  /** The cosine from which a tool is relevant. */
  readonly worthShowing: number;
  /** The weight of meaning relative to words in the fusion, in [0, 1]. */
  readonly share: number;
}

/**
 * The tuned model. The threshold keeps 97 % of the correct tools among the first five on each of seven labelled sets. The share is in the flat
 * maximum of macro NDCG@10.
 */
export const TUNED_MODEL: MeasuredModel = { worthShowing: 0.235, share: 0.85 };

/**
 * The static table, measured in the same way (96.8 % on the smallest set). Words get more weight, because otherwise it is worse than word search on
 * sets where exact wording matters.
 */
export const STATIC_MODEL: MeasuredModel = { worthShowing: 0.28, share: 0.7 };

/** Maps a model's cosines to [0, 1], with 0.5 at the relevance threshold. Unlike a logistic function, it does not flatten for good matches. */
export function calibrateCosine(worthShowing: number): (cosine: number) => number {
  return (cosine) => (cosine <= 0 ? 0 : 1 / (1 + (worthShowing / cosine) ** 2));
}

/** The scale of an embedder's cosines. */
export interface DenseScale {
  /** Maps a cosine to [0, 1], with 0.5 at the relevance threshold. */
  readonly calibrate: (cosine: number) => number;
  /** The highest cosine that means no similarity. */
  readonly floor: number;
  /** The weight of meaning relative to words, in [0, 1]. */
  readonly share: number;
}

/** The weight of meaning for embedders that were never measured. Words keep a fifth. */
const USUAL_SHARE = 0.8;
const NEXT_TO_NOTHING = 0.001;

/** Returns the scale of an embedder's cosines. Without a calibration, the cosine itself is used. */
export function denseScale(calibrate?: (cosine: number) => number, share: number = USUAL_SHARE): DenseScale {
  if (!calibrate) return { calibrate: (cosine) => Math.min(Math.max(cosine, 0), 1), floor: 0, share };
  let low = -1;
  let high = 1;
  // Finds the highest cosine that still means almost nothing, by bisection. Calibrations are monotonic.
  for (let round = 0; round < 30; round++) {
    const middle = (low + high) / 2;
    if (calibrate(middle) < NEXT_TO_NOTHING) low = middle;
    else high = middle;
  }
  return { calibrate, floor: low, share };
}
