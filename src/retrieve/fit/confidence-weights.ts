// Written by models/confidence.py. Change the training there, not the numbers here.
import type { ClosenessFeature, ConfidenceFeature } from "./confidence-features.ts";

/** Two logistic regressions: the weight of each feature. */
export interface ConfidenceWeights {
  /** How close the best tool is, for a request of that length. Below `least`, no tool is anywhere near. */
  readonly closeness: Readonly<Record<ClosenessFeature | "intercept" | "least", number>>;
  /** The chance that the request can be served. Below `likely`, it probably cannot. */
  readonly fit: Readonly<Record<ConfidenceFeature | "intercept" | "likely", number>>;
}

/** The ranker that a confidence is fitted to. */
export type ConfidenceTier = "lexical" | "static" | "tuned";

/** One pair of fits per ranker: their scores do not compare. */
export const CONFIDENCE_WEIGHTS: Readonly<Record<ConfidenceTier, ConfidenceWeights>> = {
  lexical: {
    closeness: { intercept: -2.2924, best: 3.0834, bestByWords: 2.2335, words: 0.7381, tools: -0.0282, least: -99.0 },
    fit: {
      intercept: -2.2138,
      best: 3.9161,
      bestByWords: 1.0232,
      words: 0.7476,
      tools: -0.0212,
      productFits: 0.3193,
      homeDoesToObject: 2.1845,
      homeLacksWrite: -0.7735,
      writeOnRead: -0.687,
      topUndoes: -1.3662,
      likely: 0.2375,
    },
  },
  static: {
    closeness: {
      intercept: -0.1139,
      best: 0.5099,
      bestByWords: 2.9075,
      words: -1.3539,
      tools: -0.0573,
      least: -1.9265,
    },
    fit: {
      intercept: 0.0485,
      best: -0.1251,
      bestByWords: 3.9505,
      words: -1.4914,
      tools: -0.0863,
      productFits: -0.6985,
      homeDoesToObject: 1.2989,
      homeLacksWrite: -0.9328,
      writeOnRead: -0.9396,
      topUndoes: -1.9613,
      likely: 0.272,
    },
  },
  tuned: {
    closeness: { intercept: 0.052, best: 1.6364, bestByWords: 2.9471, words: -1.4813, tools: -0.0694, least: -2.4747 },
    fit: {
      intercept: 0.0471,
      best: 1.5062,
      bestByWords: 4.3714,
      words: -1.5518,
      tools: -0.1171,
      productFits: -1.5244,
      homeDoesToObject: 0.8141,
      homeLacksWrite: -1.1169,
      writeOnRead: -0.5954,
      topUndoes: -2.5588,
      likely: 0.2515,
    },
  },
};
