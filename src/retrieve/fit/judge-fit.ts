import type { FusedEvidence } from "../fuse/fuse-evidence.ts";
import { confidenceOf, confidenceThreshold, confidenceTierOf } from "./confidence.ts";
import type { RefuseMode } from "../query.ts";

/** Whether what was found serves the request. */
export interface FitVerdict {
  /** In [0, 1]. */
  readonly confidence: number;
  /** True if the confidence is below the answering tier's threshold for `refuse`. */
  readonly isLow: boolean;
}

/** Judges what a search found. Results of a custom embedder are judged by their words, because its cosines are on a scale of their own. */
export function judgeFit(
  request: string,
  found: FusedEvidence & { readonly candidateCount: number },
  refuse: RefuseMode,
): FitVerdict {
  const known = confidenceTierOf(found.tier);
  const ranking = found.hits.map(({ tool, cosine, coverage = 0 }) => {
    return { tool, coverage, cosine: known === undefined ? undefined : cosine };
  });
  const tier = known === undefined || ranking[0]?.cosine === undefined ? "lexical" : known;
  const confidence = confidenceOf(request, { ranking, tools: found.candidateCount, tier });
  return { confidence, isLow: confidence < confidenceThreshold(tier, refuse) };
}
