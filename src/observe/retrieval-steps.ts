import type { RetrievalSteps } from "./events.ts";

/** Returns the steps of a retrieval in order, with start and duration. Without the engine's search timings, the whole search is one step. */
export function timeSteps(steps: RetrievalSteps) {
  const { understandMs, searchMs, filterMs, lexicalMs, denseMs, fuseMs, rerankMs, fitMs } = steps;
  const isTold = filterMs !== undefined && lexicalMs !== undefined && denseMs !== undefined;
  const search = isTold
    ? inTurn(understandMs, { filter: filterMs, lexical: lexicalMs, dense: denseMs })
    : inTurn(understandMs, { search: searchMs });
  return [
    ...inTurn(0, { understand: understandMs }),
    ...search,
    ...inTurn(understandMs + searchMs, {
      fuse: fuseMs,
      ...(rerankMs !== undefined && { rerank: rerankMs }),
      fit: fitMs,
    }),
  ];
}

function inTurn(afterMs: number, durations: Readonly<Record<string, number>>) {
  let next = afterMs;
  return Object.entries(durations).map(([name, durationMs]) => {
    const step = { name, afterMs: next, durationMs };
    next += durationMs;
    return step;
  });
}
