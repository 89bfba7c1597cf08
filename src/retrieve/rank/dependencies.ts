import type { Dependency, Tool } from "../../tool/tool.ts";
import type { Candidate } from "./scorer.ts";

/** A tool that comes with another. */
export interface Companion {
  readonly tool: Tool;
  readonly type: "requires" | "suggests";
  /** The id of the tool it comes with. */
  readonly of: string;
}

/** Of every two candidates that conflict, in either direction, keeps the first. Candidates come best first. */
export function dropConflicts(candidates: readonly Candidate[]): {
  readonly kept: readonly Candidate[];
  /** The id of a candidate that gave way, to the id of the one it gave way to. */
  readonly conflicts: ReadonlyMap<string, string>;
} {
  const present = createPresent([]);
  const conflicts = new Map<string, string>();
  const kept = candidates.filter(({ tool }) => {
    const other = present.conflictOf(tool);
    if (other === undefined) present.add(tool);
    else conflicts.set(tool.id, other);
    return other === undefined;
  });
  return { kept, conflicts };
}

/** What finding companions needs to know. */
export interface CompanionOptions {
  /** How many tools there may be for suggestions to be added; what is required comes anyway. */
  readonly limit: number;
  readonly get: (id: string) => Tool | undefined;
  /** The filter of the query: what it refuses does not come in as a dependency either. */
  readonly accept: (tool: Tool) => boolean;
}

/** The tools that come with those chosen: all they require, also indirectly, then what they suggest while there is room. No conflicts, nothing twice. */
export function findCompanions(chosen: readonly Tool[], options: CompanionOptions): readonly Companion[] {
  const present = createPresent(chosen);
  const companions: Companion[] = [];

  const add = (owner: Tool, id: string, type: Companion["type"]): Tool | undefined => {
    const tool = options.get(id);
    if (tool === undefined || present.ids.has(tool.id) || !options.accept(tool)) return undefined;
    if (present.conflictOf(tool) !== undefined) return undefined;
    present.add(tool);
    companions.push({ tool, type, of: owner.id });
    return tool;
  };
  const addRequired = (owners: readonly Tool[]): void => {
    // Grows as it is read, which is what makes it transitive; `present` is what ends a cycle.
    const waiting = [...owners];
    for (const owner of waiting) {
      for (const id of idsOf(owner, "requires")) {
        const added = add(owner, id, "requires");
        if (added !== undefined) waiting.push(added);
      }
    }
  };

  addRequired(chosen);
  for (const owner of chosen) {
    for (const id of idsOf(owner, "suggests")) {
      if (present.ids.size >= options.limit) return companions;
      const added = add(owner, id, "suggests");
      if (added !== undefined) addRequired([added]);
    }
  }
  return companions;
}

/** Every tool that the given ones may bring with them, also indirectly, by id. */
export async function loadDependencies(
  owners: readonly Tool[],
  get: (ids: readonly string[]) => Promise<readonly Tool[]>,
): Promise<ReadonlyMap<string, Tool>> {
  const known = new Map(owners.map((tool) => [tool.id, tool]));
  const asked = new Set(known.keys());
  for (let latest = owners; latest.length > 0;) {
    const wanted = latest.flatMap((owner) => idsOf(owner, "requires", "suggests")).filter((id) => !asked.has(id));
    for (const id of wanted) asked.add(id);
    latest = wanted.length === 0 ? [] : await get([...new Set(wanted)]);
    for (const tool of latest) known.set(tool.id, tool);
  }
  return known;
}

/** The tools that are there, and which of them another one conflicts with. */
function createPresent(tools: readonly Tool[]) {
  const ids = new Set<string>();
  const barred = new Map<string, string>();
  const add = (tool: Tool): void => {
    ids.add(tool.id);
    for (const id of idsOf(tool, "conflicts")) if (!barred.has(id)) barred.set(id, tool.id);
  };
  tools.forEach(add);
  return {
    ids: ids as ReadonlySet<string>,
    add,
    conflictOf: (tool: Tool) => barred.get(tool.id) ?? idsOf(tool, "conflicts").find((id) => ids.has(id)),
  };
}

/** The ids that a tool's dependencies mean: each is written as one, or as a name in the same namespace. Names have no dots, ids always have one. */
function idsOf({ namespace, dependencies }: Tool, ...types: readonly Dependency["type"][]): readonly string[] {
  return dependencies
    .filter(({ type }) => types.includes(type))
    .map(({ tool }) => (tool.includes(".") ? tool : `${namespace}.${tool}`));
}
