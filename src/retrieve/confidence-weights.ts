// Written by models/confidence.py. Change the training there, not the numbers here.
import type { ConfidenceFeature } from "./confidence-features.ts";

/** A logistic fit: what each feature counts, and its usual value, which stands in where a ranking is too short to say. */
export interface ConfidenceWeights {
  readonly intercept: number;
  /** The confidence under which nothing fits: 5 % of the requests that could be served fell below in training. */
  readonly threshold: number;
  readonly weights: Readonly<Partial<Record<ConfidenceFeature, number>>>;
  readonly usual: Readonly<Partial<Record<ConfidenceFeature, number>>>;
}

/** The ranker that a confidence is fitted to. */
export type ConfidenceTier = "lexical" | "static" | "tuned";

/** One fit a ranker: their scores do not compare. */
export const CONFIDENCE_WEIGHTS: Readonly<Record<ConfidenceTier, ConfidenceWeights>> = {
  lexical: {
    intercept: 0.1993,
    threshold: 0.1965,
    weights: { coverage: -2.1233, coverageMargin: 7.0343, agreement: 0.1706, spread: -0.8493, productFits: 0.3638, productElsewhere: 0.6901, namesUnknown: -0.7108, objectsUnknown: -0.1369, asksWrite: -0.4575, topDoes: 0.0341, homeDoes: 0.1537, homeDoesToObject: 1.3639, homeLacksWrite: -0.4008, writeOnRead: -0.8192, topUndoes: -0.8057 },
    usual: { coverage: 0.1399, coverageMargin: 0.0576, agreement: 0.9934, spread: 0.5779, productFits: 0.3585, productElsewhere: 0.094, namesUnknown: 0.3371, objectsUnknown: 0.3901, asksWrite: 0.3102, topDoes: 0.3715, homeDoes: 0.5572, homeDoesToObject: 0.1485, homeLacksWrite: 0.1819, writeOnRead: 0.1175, topUndoes: 0.0117 },
  },
  static: {
    intercept: -2.6618,
    threshold: 0.1676,
    weights: { cosine: 4.8724, marginToSecond: 2.7086, marginToFifth: 1.1965, marginToTwentieth: -1.8049, coverage: -2.5959, coverageMargin: 3.3612, agreement: 0.5633, spread: -0.7177, productFits: 0.0549, productElsewhere: 0.5529, namesUnknown: -0.5712, objectsUnknown: 0.2829, asksWrite: -0.4081, topDoes: 0.0522, homeDoes: 0.1579, homeDoesToObject: 1.1777, homeLacksWrite: -0.3992, writeOnRead: -1.16, topUndoes: -1.4335 },
    usual: { cosine: 0.5508, marginToSecond: 0.0574, marginToFifth: 0.1266, marginToTwentieth: 0.2428, coverage: 0.1269, coverageMargin: 0.0604, agreement: 0.8483, spread: 0.5193, productFits: 0.3864, productElsewhere: 0.0551, namesUnknown: 0.351, objectsUnknown: 0.4627, asksWrite: 0.3102, topDoes: 0.4355, homeDoes: 0.6225, homeDoesToObject: 0.1505, homeLacksWrite: 0.1647, writeOnRead: 0.1061, topUndoes: 0.0119 },
  },
  tuned: {
    intercept: -4.7286,
    threshold: 0.2034,
    weights: { cosine: 9.6929, marginToSecond: 2.1447, marginToFifth: 1.9467, marginToTwentieth: -2.8294, coverage: -3.1009, coverageMargin: 1.7328, agreement: 0.4743, spread: -0.0852, productFits: -0.3754, productElsewhere: 0.71, namesUnknown: -0.3863, objectsUnknown: 0.3457, asksWrite: -0.5803, topDoes: 0.2933, homeDoes: 0.0761, homeDoesToObject: 0.7737, homeLacksWrite: -0.4399, writeOnRead: -0.6321, topUndoes: -1.5966 },
    usual: { cosine: 0.5027, marginToSecond: 0.0691, marginToFifth: 0.1581, marginToTwentieth: 0.297, coverage: 0.1157, coverageMargin: 0.0631, agreement: 0.7398, spread: 0.508, productFits: 0.3876, productElsewhere: 0.0467, namesUnknown: 0.3602, objectsUnknown: 0.5166, asksWrite: 0.3102, topDoes: 0.4663, homeDoes: 0.6396, homeDoesToObject: 0.1424, homeLacksWrite: 0.1547, writeOnRead: 0.0845, topUndoes: 0.01 },
  },
};
