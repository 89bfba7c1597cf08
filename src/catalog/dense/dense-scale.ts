/** How an embedder's cosines are read. */
export interface DenseScale {
  /** To [0, 1], with 0.5 where a match is worth showing. */
  readonly calibrate: (cosine: number) => number;
  /** A cosine that means nothing at all: the bottom of the scale. */
  readonly floor: number;
  /** How much meaning counts against words, in [0, 1]. */
  readonly share: number;
}

/** Words keep a fifth beside an embedder that nobody has measured. */
const USUAL_SHARE = 0.8;
const NEXT_TO_NOTHING = 0.001;

/** Reads an embedder's cosines; one that does not calibrate means the cosine itself. */
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
