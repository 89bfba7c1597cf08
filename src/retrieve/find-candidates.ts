import type { CatalogEngine, EngineAnswer } from "../catalog/catalog-engine.port.ts";
import type { RequestVectors } from "../catalog/dense/tiers.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { Request } from "./understand/understand.ts";

export interface CandidateQuery {
  readonly filter: ToolFilter;
  /** The tools that the caller may see. Undefined if the policy cannot express them as a filter. */
  readonly visible: ToolFilter | undefined;
  /** Checks each found tool against conditions that no filter can express. */
  readonly accept: (tool: Tool) => boolean;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** The search result, without tools that the caller may not see. */
export interface Candidates {
  readonly answer: EngineAnswer;
  /** The number of tools that passed every filter. */
  readonly candidateCount: number;
  /** The number of visible tools that a filter removed. */
  readonly filteredCount: number;
}

/** If a search finds refused tools, the next search requests this many times more. */
const GROWTH = 4;

/** Searches until no found tool is refused. Each further search is wider and excludes refused tools, so hidden tools take no rank. */
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
