import { ArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { Clock } from "../../observe/clock.ts";
import { untilAborted } from "../../base/turns/until-aborted.ts";
import type { Reranker } from "../reranker.port.ts";
import { byScore, type Candidate, type Scorer } from "./scorer.ts";

/** Scores of the reranked candidates by tool id, or the reason why there are none. */
export type Reranking =
  | { readonly scores: ReadonlyMap<string, number>; readonly lowest: number }
  | { readonly error: string };

/** Sends the best candidates to the reranker. If it fails or takes longer than `timeoutMs`, the order does not change. */
export async function rerank(
  reranker: Reranker,
  query: string,
  candidates: readonly Candidate[],
  options: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<Reranking> {
  const { clock, timeoutMs, signal } = options;
  const late = new AbortController();
  const problem = `no answer within ${timeoutMs} ms. Raise reranker.timeout_ms to wait longer.`;
  const cancel = clock.after(timeoutMs, () => late.abort(new ArsenalError("TIMEOUT", problem)));
  try {
    const tools = candidates.map((candidate) => candidate.tool);
    const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    const answer = await untilAborted(reranker.rerank(query, tools, { signal: either }), late.signal);
    if (answer.length !== tools.length || !answer.every(Number.isFinite))
      throw new ArsenalError("PROTOCOL_ERROR", `${reranker.model} did not give one number for each tool.`);
    const scores = new Map(tools.map(({ id }, index) => [id, Math.min(1, Math.max(0, answer[index] ?? 0))]));
    return { scores, lowest: Math.min(1, ...scores.values()) };
  } catch (error) {
    return { error: `The reranker ${reranker.model} failed, so the order is the search's own: ${messageOf(error)}` };
  } finally {
    cancel();
  }
}

/** Orders the candidates by the reranker's scores. Without scores, the order does not change. */
export function applyReranking(
  ranked: readonly Candidate[],
  reranking: Reranking | undefined,
  score: Scorer,
): readonly Candidate[] {
  if (reranking === undefined || !("scores" in reranking)) return ranked;
  return ranked
    .map((candidate) => {
      const rerankScore = reranking.scores.get(candidate.tool.id);
      if (rerankScore !== undefined) return { ...score(candidate, rerankScore), rerankScore };
      // Candidates that were not reranked must not overtake reranked ones, because the two scales differ.
      return score(candidate, Math.min(candidate.semanticScore, reranking.lowest));
    })
    .sort(byScore);
}
