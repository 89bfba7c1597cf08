import type { CatalogEngine, EngineAnswer } from "../catalog/catalog-engine.port.ts";
import type { RequestVectors } from "../catalog/dense/tiers.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { Request } from "./understand/understand.ts";

/** Which tools are looked for. */
export interface CandidateQuery {
  /** What the query asks of the tools themselves. */
  readonly filter: ToolFilter;
  /** What the caller may know of, if the policy can state it. */
  readonly visible: ToolFilter | undefined;
  /** Decides on each tool found what no filter can state. */
  readonly accept: (tool: Tool) => boolean;
  /** Tools that each ranker puts forward. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** What was found, without any tool that the caller may not know of. */
export interface Candidates {
  readonly answer: EngineAnswer;
  /** Tools that passed every filter. */
  readonly candidateCount: number;
  /** Tools that the caller may know of and that a filter left out. */
  readonly filteredCount: number;
}

/** Each search after one that found refused tools asks for this many times as much. */
const GROWTH = 4;

/** Searches until no tool found is refused. Refused tools are left out of the next, wider search, so hidden tools take nobody's place. */
export async function findCandidates(
  engine: Pick<CatalogEngine, "search">,
  request: Request,
  { vectors }: RequestVectors,
  query: CandidateQuery,
): Promise<Candidates> {
  const { filter, visible, accept, signal } = query;
  const refused: string[] = [];
  for (let { limit } = query; ; limit *= GROWTH) {
    const answer = await engine.search({
      filter: refused.length === 0 ? filter : { all: [filter, { not: { ids: refused } }] },
      ...(visible === undefined ? {} : { visible }),
      limit,
      texts: request.texts,
      vectors,
      ...(signal === undefined ? {} : { signal }),
    });
    const before = refused.length;
    for (const { tool } of answer.candidates) if (!accept(tool)) refused.push(tool.id);
    if (refused.length > before) continue;
    const { candidates, accepted, total } = answer;
    if (visible === undefined) return { answer, candidateCount: candidates.length, filteredCount: 0 };
    return { answer, candidateCount: accepted, filteredCount: total - accepted };
  }
}
