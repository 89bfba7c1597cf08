import type { CatalogEngine, EngineAnswer } from "../catalog/catalog-engine.port.ts";
import type { RequestVectors } from "../catalog/dense/tiers.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { Request } from "./understand/understand.ts";

/** Defines the tools to search for. */
export interface CandidateQuery {
  readonly filter: ToolFilter;
  /** The tools that the caller may see, if the policy can state them as a filter. */
  readonly visible: ToolFilter | undefined;
  /** Decides on each tool found, for conditions that no filter can state. */
  readonly accept: (tool: Tool) => boolean;
  /** Tools that each ranker puts forward. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** The search result, without tools that the caller may not see. */
export interface Candidates {
  readonly answer: EngineAnswer;
  /** Tools that passed every filter. */
  readonly candidateCount: number;
  /** Tools that the caller may see and that a filter left out. */
  readonly filteredCount: number;
}

/** If a search found refused tools, the next search requests this many times as many. */
const GROWTH = 4;

/** Searches until no tool found is refused. The next, wider search excludes refused tools, so hidden tools take no rank. */
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
