/** How much of a text the shipped models read, in tokens, as they were trained. */
export const TOKEN_LIMITS: { readonly query: number; readonly tool: number } = { query: 256, tool: 192 };

/** How a model's cosines are read. */
export interface Calibration {
  /** The cosine from which a tool is worth showing. */
  readonly worthShowing: number;
  /** How fast the score rises there. */
  readonly steepness: number;
}

/** Maps cosines to [0, 1], upwards, with 0.5 at the point worth showing. */
export function calibration({ worthShowing, steepness }: Calibration): (cosine: number) => number {
  return (cosine) => 1 / (1 + Math.exp(-steepness * (cosine - worthShowing)));
}
