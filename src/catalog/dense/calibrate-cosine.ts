/** What is known of a shipped model by measurement. */
export interface MeasuredModel {
  /** The cosine from which a tool is worth showing. */
  readonly worthShowing: number;
  /** How much meaning counts against words in the fusion, in [0, 1]. */
  readonly share: number;
}

/**
 * The tuned model. With this threshold 97 % of the right tools that stand among the first five stay, on each of seven labelled sets (MCP
 * servers, plugins, REST operations, follow-up turns); the share is the flat top of macro NDCG@10 over five of them.
 */
export const TUNED_MODEL: MeasuredModel = { worthShowing: 0.235, share: 0.85 };

/** The static table, measured likewise (96.8 % on the smallest set). Words count more beside it: with less, it falls below word search where wording is all there is. */
export const STATIC_MODEL: MeasuredModel = { worthShowing: 0.28, share: 0.7 };

/**
 * Maps a model's cosines to [0, 1], upwards, with 0.5 at the point worth showing. It keeps rising among good matches, where a logistic is
 * flat and the other signals of the routing formula would decide alone.
 */
export function calibrateCosine(worthShowing: number): (cosine: number) => number {
  return (cosine) => (cosine <= 0 ? 0 : 1 / (1 + (worthShowing / cosine) ** 2));
}
