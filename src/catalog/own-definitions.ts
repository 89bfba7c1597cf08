import { EVERY_TOOL, toPredicate } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { CatalogEngine, EngineAnswer, EngineCandidate } from "./catalog-engine.port.ts";

export type ShownTools = Pick<CatalogEngine, "get" | "list" | "search">;

export interface OwnDefinitionsParts {
  readonly engine: ShownTools;
  /** Returns the definition that this process runs under an id; undefined if it runs none. */
  readonly own: (id: string) => Tool | undefined;
  /** Ids of tools that run here but have another definition in the engine. */
  readonly conflicts: ReadonlySet<string>;
  /** Creates an empty engine in memory, in which conflicting tools are searched by words. Called on the first conflict. */
  readonly createEngine: () => Promise<CatalogEngine>;
}

/**
 * Shows each tool of this process with its own definition, even if a shared engine has another one under the same id. The model then reads the
 * definition that the guard enforces.
 */
export function withOwnDefinitions({ engine, own, conflicts, createEngine }: OwnDefinitionsParts): ShownTools {
  const aside = createAside(createEngine);
  const shown = (tool: Tool): Tool => own(tool.id) ?? tool;
  const isUndisputed = ({ id }: Tool): boolean => !conflicts.has(id);
  const inConflict = (): readonly Tool[] => [...conflicts].flatMap((id) => own(id) ?? []);
  const shownCandidate = (candidate: EngineCandidate): EngineCandidate => {
    const tool = shown(candidate.tool);
    return tool === candidate.tool ? candidate : { ...candidate, tool };
  };

  return {
    get: async (ids, options) => (await engine.get(ids, options)).map(shown),

    async list(query = {}) {
      const page = await engine.list(query);
      if (conflicts.size === 0) return { ...page, tools: page.tools.map(shown) };
      const { filter = EVERY_TOOL, cursor = "", limit = Infinity } = query;
      const { next } = page;
      const accepts = toPredicate(filter);
      const isOnPage = ({ id }: Tool): boolean => id > cursor && (next === undefined || id <= next);
      const tools = [
        ...page.tools.filter(isUndisputed).map(shown),
        ...inConflict().filter((tool) => isOnPage(tool) && accepts(tool)),
      ].sort((one, other) => (one.id < other.id ? -1 : 1));
      const last = tools[limit - 1];
      if (tools.length > limit && last !== undefined) return { tools: tools.slice(0, limit), next: last.id };
      return { ...page, tools };
    },

    async search(query) {
      const answer = await engine.search(query);
      const { candidates } = answer;
      if (conflicts.size > 0) {
        const local = await aside.holding(inConflict());
        const found = await local.search(query);
        const undisputed = candidates.filter(({ tool }) => isUndisputed(tool)).map(shownCandidate);
        return merged({ ...answer, candidates: undisputed }, found, conflicts);
      }
      const isShown = candidates.every(({ tool }) => shown(tool) === tool);
      return isShown ? answer : { ...answer, candidates: candidates.map(shownCandidate) };
    },
  };
}

/** Adds the results for conflicting tools. The counts stay the engine's, because it has an entry under each of these ids as well. */
function merged(answer: EngineAnswer, aside: EngineAnswer, conflicts: ReadonlySet<string>): EngineAnswer {
  return {
    ...answer,
    candidates: [...answer.candidates, ...aside.candidates.filter(({ tool }) => conflicts.has(tool.id))],
    matchedTerms(text) {
      const [terms, asideTerms] = [answer.matchedTerms(text), aside.matchedTerms(text)];
      return (id) => (conflicts.has(id) ? asideTerms(id) : terms(id));
    },
    similarity(a, b) {
      if (conflicts.has(a) !== conflicts.has(b)) return 0;
      return (conflicts.has(a) ? aside : answer).similarity(a, b);
    },
  };
}

/** Creates an engine in memory that holds a few tools at a time. */
function createAside(createEngine: () => Promise<CatalogEngine>) {
  let creating: Promise<CatalogEngine> | undefined;
  let held: ReadonlySet<string> = new Set();
  return {
    /** Returns the engine with exactly these tools in it. */
    async holding(tools: readonly Tool[]): Promise<CatalogEngine> {
      const engine = await (creating ??= createEngine());
      const wanted = new Set(tools.map(({ id }) => id));
      const gone = [...held].filter((id) => !wanted.has(id));
      held = wanted;
      await engine.delete(gone);
      await engine.put(tools);
      return engine;
    },
  };
}
