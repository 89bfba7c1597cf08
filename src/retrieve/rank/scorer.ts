import type { Hit } from "../fuse/fuse-evidence.ts";
import type { RoutingSignals, RoutingWeights } from "../result.ts";
import { signalsOf, type SignalParts } from "./signals.ts";

export interface Candidate extends Hit {
  readonly score: number;
  readonly rerankScore?: number;
  readonly signals: RoutingSignals;
}

/** Converts a hit to a candidate. `semantic` replaces the search's own score. */
export type Scorer = (of: Hit, semantic?: number) => Candidate;

/** Creates the scorer of one query: computes signals, then the routing formula. */
export function createScorer(parts: SignalParts, weights: RoutingWeights): Scorer {
  return (of, semantic = of.semanticScore) => {
    const signals = signalsOf(of.tool, semantic, parts);
    return { ...of, score: finalScore(signals, weights), signals };
  };
}

/** The routing formula: weighted signals minus penalties, at least 0. */
export function finalScore(signals: RoutingSignals, weights: RoutingWeights): number {
  const base =
    signals.semantic * weights.semantic +
    signals.intent * weights.intent +
    signals.conversation * weights.conversation +
    signals.health * weights.health +
    signals.cost * weights.cost +
    (signals.learned ?? 0) * (weights.learned ?? 0);
  const { alreadyUsedPenalty, alreadyFailedPenalty, deprecatedPenalty, destructivePenalty = 0 } = signals;
  const penalties = alreadyUsedPenalty + alreadyFailedPenalty + deprecatedPenalty + destructivePenalty;
  return Math.max(0, base - penalties);
}

/** Orders by score, then fit, then id, so that equal requests always get the same order. */
export function byScore(a: Candidate, b: Candidate): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.semanticScore !== b.semanticScore) return b.semanticScore - a.semanticScore;
  return a.tool.id < b.tool.id ? -1 : 1;
}
