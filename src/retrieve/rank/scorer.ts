import type { Hit } from "../fuse/fuse-evidence.ts";
import type { Candidate } from "./candidate.ts";
import type { RoutingWeights } from "../result.ts";
import { finalScore } from "./score.ts";
import { signalsOf, type SignalParts } from "./signals.ts";

/** Makes a candidate of a hit. `semantic` stands for the search's own score where something knows better. */
export type Scorer = (of: Hit | Candidate, semantic?: number) => Candidate;

/** The scorer of one query: signals, then the routing formula. */
export function createScorer(parts: SignalParts, weights: RoutingWeights): Scorer {
  return (of, semantic = of.semanticScore) => {
    const signals = signalsOf(of.tool, semantic, parts);
    return {
      tool: of.tool,
      score: finalScore(signals, weights),
      semanticScore: of.semanticScore,
      signals,
      wishes: of.wishes ?? [],
      matchedTerms: () => of.matchedTerms(),
    };
  };
}
