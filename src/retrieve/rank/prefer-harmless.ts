import { profileRequest, profileTool } from "../understand/action-object.ts";
import type { VerbGroupName } from "../understand/verb-groups.ts";
import type { Candidate } from "./scorer.ts";

/** Scores this close are a near-tie. Scores are coarser while a lesser ranker answers for one that is still loading. */
const NEAR_TIE = 0.01;
const COARSE_NEAR_TIE = 0.04;

/**
 * Moves a destructive tool behind the tools in a near-tie with it, and gives it their score, unless the request asks for its action. Candidates come
 * best first. Returns the same list if nothing changes.
 */
export function preferHarmless(ranked: readonly Candidate[], request: string, isCoarse: boolean): readonly Candidate[] {
  if (!ranked.some(isDestructive)) return ranked;
  const margin = isCoarse ? COARSE_NEAR_TIE : NEAR_TIE;
  const order = [...ranked];
  let wanted: readonly VerbGroupName[] | undefined;
  for (let at = order.length - 1; at >= 0; at--) {
    const candidate = order[at];
    if (candidate === undefined || !isDestructive(candidate)) continue;
    let place = at;
    for (let next = order[place + 1]; next !== undefined && !isDestructive(next); next = order[place + 1]) {
      if (next.score < candidate.score - margin) break;
      wanted ??= profileRequest(request).actions;
      if (wanted.some((action) => profileTool(candidate.tool).actions.has(action))) break;
      order[place++] = next;
    }
    if (place > at) order[place] = withScore(candidate, order[place - 1]?.score ?? candidate.score);
  }
  return order;
}

function isDestructive({ tool }: Candidate): boolean {
  return tool.annotations.destructive === true;
}

function withScore(candidate: Candidate, score: number): Candidate {
  return { ...candidate, score, signals: { ...candidate.signals, destructivePenalty: candidate.score - score } };
}
