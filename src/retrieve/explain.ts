import type { Candidate } from "./rank/scorer.ts";
import type { ExplainedTool, Explanation, RoutingSignals, RoutingWeights } from "./result.ts";

const MOST_LEFT_OUT = 10;

/** Why a candidate is in the result, or why it was left out. */
export interface Verdict {
  readonly candidate: Candidate;
  readonly reason: ExplainedTool["reason"];
  /** The other tool, if the reason is a tool. */
  readonly because?: string;
}

/** Explains a result: the chosen tools in order, and the best of the tools left out. */
export function explain(
  ranked: readonly Candidate[],
  chosen: readonly Verdict[],
  cuts: Cuts,
  weights: RoutingWeights,
): Explanation {
  const explained = (verdict: Verdict): ExplainedTool => explainTool(verdict, weights);
  return { chosen: chosen.map(explained), leftOut: leftOut(ranked, chosen, cuts).map(explained) };
}

/** The facts behind each reason for leaving a candidate out. `conflicts` and `displaced` map its id to the id of the other tool. */
interface Cuts {
  readonly scoreThreshold: number;
  /** True if no tool fits, so every candidate was left out. */
  readonly refused: boolean;
  readonly conflicts: ReadonlyMap<string, string>;
  readonly displaced: ReadonlyMap<string, string>;
}

/** Lists the candidates that were not chosen, in order, each with the reason. */
function leftOut(ranked: readonly Candidate[], chosen: readonly Verdict[], cuts: Cuts): readonly Verdict[] {
  const taken = new Set(chosen.map(({ candidate }) => candidate.tool.id));
  const others = ranked.filter((candidate) => !taken.has(candidate.tool.id));
  return others.slice(0, MOST_LEFT_OUT).map((candidate) => {
    const conflict = cuts.conflicts.get(candidate.tool.id);
    const alike = cuts.displaced.get(candidate.tool.id);
    if (candidate.semanticScore < cuts.scoreThreshold) return { candidate, reason: "threshold" };
    if (cuts.refused) return { candidate, reason: "confidence" };
    if (conflict !== undefined) return { candidate, reason: "conflict", because: conflict };
    if (alike !== undefined) return { candidate, reason: "diversity", because: alike };
    return { candidate, reason: "limit" };
  });
}

/** The contributions add up to the score. If the score was clamped at 0, they add up to less than 0. */
function explainTool({ candidate, reason, because }: Verdict, weights: RoutingWeights): ExplainedTool {
  return {
    toolId: candidate.tool.id,
    score: candidate.score,
    reason,
    ...(because === undefined ? {} : { because }),
    signals: (Object.keys(candidate.signals) as (keyof RoutingSignals)[]).map((name) => {
      const value = candidate.signals[name] ?? 0;
      const weight = name.endsWith("Penalty") ? -1 : (weights[name as keyof RoutingWeights] ?? 0);
      // `|| 0` avoids -0 for a missing penalty.
      return { name, value, weight, contribution: value * weight || 0 };
    }),
    matchedTerms: candidate.matchedTerms(),
  };
}
