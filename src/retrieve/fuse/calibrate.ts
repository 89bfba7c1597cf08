/** The coverage from which a tool is worth showing: it keeps 97 % of the right tools that word search ranks in its first five, on three labelled sets. */
const WORTH_SHOWING = 0.025;

/** Maps a lexical score (the share of a request's weight that a tool covers) to [0, 1], upwards, with 0.5 at the point worth showing. */
export function calibrateLexical(coverage: number): number {
  // Written this way, rounding preserves the order.
  return coverage <= 0 ? 0 : 1 / (1 + WORTH_SHOWING / coverage);
}

/** The measured properties of a shipped model. */
export interface MeasuredModel {
  /** The cosine from which a tool is worth showing. */
  readonly worthShowing: number;
  /** How much meaning counts against words in the fusion, in [0, 1]. */
  readonly share: number;
}

/** The tuned model: keeps 97 % of the right tools among the first five on each of seven labelled sets; `share` is the flat top of macro NDCG@10. */
export const TUNED_MODEL: MeasuredModel = { worthShowing: 0.235, share: 0.85 };

/** The static table, measured likewise (96.8 % on the smallest set). Words count more with it: with a lower share, it falls below word search on sets where wording decides. */
export const STATIC_MODEL: MeasuredModel = { worthShowing: 0.28, share: 0.7 };

/** Maps a model's cosines to [0, 1], with 0.5 at the point worth showing. Unlike a logistic, it keeps rising among good matches. */
export function calibrateCosine(worthShowing: number): (cosine: number) => number {
  return (cosine) => (cosine <= 0 ? 0 : 1 / (1 + (worthShowing / cosine) ** 2));
}

/** The scale of an embedder's cosines. */
export interface DenseScale {
  /** To [0, 1], with 0.5 where a match is worth showing. */
  readonly calibrate: (cosine: number) => number;
  /** The highest cosine that means no similarity: the bottom of the scale. */
  readonly floor: number;
  /** How much meaning counts against words, in [0, 1]. */
  readonly share: number;
}

/** Words keep a fifth of the weight with an embedder that was never measured. */
const USUAL_SHARE = 0.8;
const NEXT_TO_NOTHING = 0.001;

/** Reads an embedder's cosines. Without a calibration, the cosine itself is used. */
export function denseScale(calibrate?: (cosine: number) => number, share: number = USUAL_SHARE): DenseScale {
  if (!calibrate) return { calibrate: (cosine) => Math.min(Math.max(cosine, 0), 1), floor: 0, share };
  let low = -1;
  let high = 1;
  // The highest cosine that still means next to nothing, by bisection: calibration only ever rises.
  for (let round = 0; round < 30; round++) {
    const middle = (low + high) / 2;
    if (calibrate(middle) < NEXT_TO_NOTHING) low = middle;
    else high = middle;
  }
  return { calibrate, floor: low, share };
}
