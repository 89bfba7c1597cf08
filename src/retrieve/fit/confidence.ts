import { CLOSENESS_FEATURES, CONFIDENCE_FEATURES, featuresOf, type RankedTool } from "./confidence-features.ts";
import { CONFIDENCE_WEIGHTS, type ConfidenceTier } from "./confidence-weights.ts";
import type { FusedEvidence } from "../fuse/fuse-evidence.ts";
import type { RefuseMode } from "../query.ts";

/**
 * Judges whether the search results serve the request. `isLow` is true if the confidence is below the threshold of `refuse` for the tier that
 * answered. The results of a custom embedder are judged by words only, because the scale of its cosines is unknown.
 */
export function judgeFit(
  request: string,
  found: FusedEvidence & { readonly candidateCount: number },
  refuse: RefuseMode,
): { readonly confidence: number; readonly isLow: boolean } {
  const known = confidenceTierOf(found.tier);
  const ranking = found.hits.map(({ tool, cosine, coverage = 0 }) => {
    return { tool, coverage, cosine: known === undefined ? undefined : cosine };
  });
  const tier = known === undefined || ranking[0]?.cosine === undefined ? "lexical" : known;
  const confidence = confidenceOf(request, { ranking, tools: found.candidateCount, tier });
  return { confidence, isLow: confidence < confidenceThreshold(tier, refuse) };
}

interface JudgedRanking {
  /** Best first, before any threshold. Only the first 30 tools are read. */
  readonly ranking: readonly RankedTool[];
  readonly tools: number;
  readonly tier: ConfidenceTier;
}

/** A confidence below this means that no tool is close to the request. */
const FAR = 0.05;

/**
 * Returns the estimated probability that the found tools serve the request, in [0, 1]. Considers the closeness of the best tool given the length of
 * the request, whether the request names the tool's product, and, if the request is long enough, whether any tool of that product performs the
 * action. The result is below 0.05 only if no tool is close; a verb or an object that does not match is never enough for that.
 */
export function confidenceOf(request: string, { ranking, tools, tier }: JudgedRanking): number {
  const [top] = ranking;
  if (top === undefined) return 0;
  // A request that equals a tool's name refers to that tool.
  if (top.coverage === 1) return 1;
  const { closeness, fit } = CONFIDENCE_WEIGHTS[top.cosine === undefined ? "lexical" : tier];
  const features = featuresOf(request, ranking, tools);
  const near = CLOSENESS_FEATURES.reduce((sum, name) => sum + closeness[name] * features[name], closeness.intercept);
  const score = CONFIDENCE_FEATURES.reduce((sum, name) => sum + fit[name] * features[name], fit.intercept);
  const chance = 1 / (1 + Math.exp(-score));
  return near < closeness.least ? FAR * chance : toNear(chance);
}

/** Returns the confidence below which no tool fits. `never` uses the threshold of `confident`, so that callers still get the judgement. */
export function confidenceThreshold(tier: ConfidenceTier, refuse: RefuseMode): number {
  return refuse === "eager" ? toNear(CONFIDENCE_WEIGHTS[tier].fit.likely) : FAR;
}

function toNear(chance: number): number {
  return FAR + (1 - FAR) * chance;
}

/** Returns the confidence model for the tier that answered; undefined for a custom embedder, because the scale of its cosines is unknown. */
export function confidenceTierOf(answeredBy: string): ConfidenceTier | undefined {
  // While the better tier is still embedding tools, its cosines are predicted for the remaining ones.
  const [best = ""] = answeredBy.split("+");
  return best === "lexical" || best === "static" || best === "tuned" ? best : undefined;
}
