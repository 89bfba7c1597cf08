import type { RetrievalSteps } from "./events.ts";

/** The steps of a retrieval, in order: when each started and how long it took. An engine that cannot tell how it searched has one for all of it. */
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

/** Steps that follow each other. */
function inTurn(afterMs: number, durations: Readonly<Record<string, number>>) {
  let next = afterMs;
  return Object.entries(durations).map(([name, durationMs]) => {
    const step = { name, afterMs: next, durationMs };
    next += durationMs;
    return step;
  });
}
