import { CONFIDENCE_FEATURES, featuresOf, type RankedTool } from "./confidence-features.ts";
import { CONFIDENCE_WEIGHTS, type ConfidenceTier } from "./confidence-weights.ts";
import type { RefuseMode } from "./query.ts";

export type { RankedTool } from "./confidence-features.ts";
export type { ConfidenceTier } from "./confidence-weights.ts";

/**
 * How sure it is that the tools found serve the request, in [0, 1]: 0.5 where as many such requests are served as not. Weighs how near
 * the best tool is and how far ahead, whether words agree, whether the product is there, and whether any of its tools found does what is
 * asked to what it is asked of. The ranking is best first, unfiltered by any threshold; 30 tools of it are read.
 */
export function confidenceOf(request: string, ranking: readonly RankedTool[], tier: ConfidenceTier): number {
  const [top] = ranking;
  if (top === undefined) return 0;
  // A request that is a tool's name means that tool, whatever else speaks against it.
  if (top.coverage === 1) return 1;
  const { intercept, weights, usual } = CONFIDENCE_WEIGHTS[top.cosine === undefined ? "lexical" : tier];
  const features = featuresOf(request, ranking);
  let sum = intercept;
  for (const name of CONFIDENCE_FEATURES) {
    const value = features[name];
    sum += (weights[name] ?? 0) * (Number.isNaN(value) ? (usual[name] ?? 0) : value);
  }
  return 1 / (1 + Math.exp(-sum));
}

/** The confidence under which nothing fits. `never` has that of `confident`, so that callers can still see it. */
export function confidenceThreshold(tier: ConfidenceTier, refuse: RefuseMode): number {
  const { confident, eager } = CONFIDENCE_WEIGHTS[tier].thresholds;
  return refuse === "eager" ? eager : confident;
}

/** The fit for the tier that answered. Undefined for a custom embedder, whose cosines are on a scale of their own. */
export function confidenceTierOf(answeredBy: string): ConfidenceTier | undefined {
  // While the better tier is still learning the tools, its cosines stand for the others' too.
  const [best = ""] = answeredBy.split("+");
  return best === "lexical" || best === "static" || best === "tuned" ? best : undefined;
}
