import type { RoutingSignals, RoutingWeights } from "../result.ts";

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
