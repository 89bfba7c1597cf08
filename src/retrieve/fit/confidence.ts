import { CLOSENESS_FEATURES, CONFIDENCE_FEATURES, featuresOf, type RankedTool } from "./confidence-features.ts";
import { CONFIDENCE_WEIGHTS, type ConfidenceTier } from "./confidence-weights.ts";
import type { FusedEvidence } from "../fuse/fuse-evidence.ts";
import type { RefuseMode } from "../query.ts";

/**
 * Judges whether the search results serve the request; `isLow` if the confidence is below the answering tier's threshold for `refuse`. Results of a
 * custom embedder are judged by their words, because its cosines are on a scale of their own.
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
  /** Best first, before any threshold; the first 30 tools are read. */
  readonly ranking: readonly RankedTool[];
  /** How many tools were searched. */
  readonly tools: number;
  readonly tier: ConfidenceTier;
}

/** A confidence below this means that every tool is far from the request. */
const FAR = 0.05;

/**
 * Returns how likely it is that the tools found serve the request, in [0, 1]. It weighs how close the best tool is for a request of that
 * length, whether the request names its product and, if it says enough, whether any tool of that product performs the action. Only a request
 * that every tool is far from gets less than 0.05: a verb or an object that does not fit is never enough for that.
 */
export function confidenceOf(request: string, { ranking, tools, tier }: JudgedRanking): number {
  const [top] = ranking;
  if (top === undefined) return 0;
  // A request that equals a tool's name means that tool.
  if (top.coverage === 1) return 1;
  const { closeness, fit } = CONFIDENCE_WEIGHTS[top.cosine === undefined ? "lexical" : tier];
  const features = featuresOf(request, ranking, tools);
  const near = CLOSENESS_FEATURES.reduce((sum, name) => sum + closeness[name] * features[name], closeness.intercept);
  const score = CONFIDENCE_FEATURES.reduce((sum, name) => sum + fit[name] * features[name], fit.intercept);
  const chance = 1 / (1 + Math.exp(-score));
  return near < closeness.least ? FAR * chance : toNear(chance);
}

/** The confidence below which nothing fits. `never` uses the threshold of `confident`, so that callers can still see it. */
export function confidenceThreshold(tier: ConfidenceTier, refuse: RefuseMode): number {
  return refuse === "eager" ? toNear(CONFIDENCE_WEIGHTS[tier].fit.likely) : FAR;
}

function toNear(chance: number): number {
  return FAR + (1 - FAR) * chance;
}

/** The fit for the tier that answered. Undefined for a custom embedder, whose cosines are on a scale of their own. */
export function confidenceTierOf(answeredBy: string): ConfidenceTier | undefined {
  // While the better tier is still learning the tools, its cosines stand in for the others.
  const [best = ""] = answeredBy.split("+");
  return best === "lexical" || best === "static" || best === "tuned" ? best : undefined;
}
