import type { SearchResult } from "../catalog/catalog.ts";
import { confidenceOf, confidenceTierOf, defaultConfidenceThreshold } from "./confidence.ts";

/** Whether what was found serves the request. */
export interface FitVerdict {
  /** In [0, 1]. */
  readonly confidence: number;
  /** True where the confidence is under the answering tier's threshold. */
  readonly isLow: boolean;
}

/** Judges what a search found. An embedder of somebody else's is judged by words alone: nothing is known of its cosines. */
export function judgeFit(request: string, found: Pick<SearchResult, "hits" | "tier">): FitVerdict {
  const known = confidenceTierOf(found.tier);
  const ranking = found.hits.map(({ tool, cosine, coverage = 0 }) => {
    return { tool, coverage, cosine: known === undefined ? undefined : cosine };
  });
  const tier = known === undefined || ranking[0]?.cosine === undefined ? "lexical" : known;
  const confidence = confidenceOf(request, ranking, tier);
  return { confidence, isLow: confidence < defaultConfidenceThreshold(tier) };
}
