import type { Hit } from "../fuse/fuse-evidence.ts";
import type { Candidate } from "./candidate.ts";
import type { RoutingSignals, RoutingWeights } from "../result.ts";
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

/** The routing formula: the weighted signals less the penalties, never below 0. */
export function finalScore(signals: RoutingSignals, weights: RoutingWeights): number {
  const base =
    signals.semantic * weights.semantic +
    signals.intent * weights.intent +
    signals.conversation * weights.conversation +
    signals.health * weights.health +
    signals.cost * weights.cost +
    (signals.learned ?? 0) * (weights.learned ?? 0);
  const penalties = signals.alreadyUsedPenalty + signals.alreadyFailedPenalty + signals.deprecatedPenalty;
  return Math.max(0, base - penalties);
}
