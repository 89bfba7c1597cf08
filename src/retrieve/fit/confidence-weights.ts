// Written by models/confidence.py. Change the training there, not the numbers here.
import type { ClosenessFeature, ConfidenceFeature } from "./confidence-features.ts";

/** Two logistic regressions: the weight of each feature. */
export interface ConfidenceWeights {
  /** The closeness of the best tool, given the length of the request. Below `least`, no tool is close. */
  readonly closeness: Readonly<Record<ClosenessFeature | "intercept" | "least", number>>;
  /** The probability that a tool serves the request. Below `likely`, probably none does. */
  readonly fit: Readonly<Record<ConfidenceFeature | "intercept" | "likely", number>>;
}

/** The ranker that a confidence model was fitted for. */
export type ConfidenceTier = "lexical" | "static" | "tuned";

/** One pair of models per ranker, because their scores are not comparable. */
export const CONFIDENCE_WEIGHTS: Readonly<Record<ConfidenceTier, ConfidenceWeights>> = {
  lexical: {
    closeness: { intercept: -2.2926, best: 3.1945, bestByWords: 2.0251, words: 0.7372, tools: -0.0245, least: -99.0 },
    fit: {
      intercept: -2.1228,
      best: 3.9428,
      bestByWords: 0.7718,
      words: 0.7506,
      tools: -0.0273,
      productFits: 0.3781,
      homeDoesToObject: 1.5799,
      homeLacksWrite: -0.8381,
      writeOnRead: -0.8519,
      topUndoes: -1.2641,
      likely: 0.2371,
    },
  },
  static: {
    closeness: { intercept: 0.0466, best: 0.2355, bestByWords: 3.0257, words: -1.4449, tools: -0.0644, least: -1.8046 },
    fit: {
      intercept: 0.1105,
      best: -0.2416,
      bestByWords: 3.8491,
      words: -1.4863,
      tools: -0.0885,
      productFits: -0.553,
      homeDoesToObject: 0.5305,
      homeLacksWrite: -0.9345,
      writeOnRead: -1.0069,
      topUndoes: -2.0851,
      likely: 0.2798,
    },
  },
  tuned: {
    closeness: { intercept: 0.2593, best: 1.0495, bestByWords: 3.2552, words: -1.657, tools: -0.0759, least: -2.2388 },
    fit: {
      intercept: 0.1626,
      best: 0.9187,
      bestByWords: 4.4011,
      words: -1.6671,
      tools: -0.1061,
      productFits: -1.233,
      homeDoesToObject: 0.215,
      homeLacksWrite: -1.0813,
      writeOnRead: -0.5613,
      topUndoes: -2.0162,
      likely: 0.2906,
    },
  },
};
