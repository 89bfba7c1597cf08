import type { Tool } from "../../tool/tool.ts";
import type { Hit } from "../fuse/fuse-evidence.ts";
import type { RoutingSignals } from "../result.ts";

/** A tool on its way through the ranking. */
export interface Candidate {
  readonly tool: Tool;
  readonly score: number;
  readonly semanticScore: number;
  readonly rerankScore?: number;
  readonly signals: RoutingSignals;
  /** Cosine with each wish of a request that has several. */
  readonly wishes?: readonly number[];
  readonly matchedTerms: Hit["matchedTerms"];
}

/** Best first: by score, then by fit, then by id, so that the same request always gives the same order. */
export function byScore(a: Candidate, b: Candidate): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.semanticScore !== b.semanticScore) return b.semanticScore - a.semanticScore;
  return a.tool.id < b.tool.id ? -1 : a.tool.id > b.tool.id ? 1 : 0;
}
