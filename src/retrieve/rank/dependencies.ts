import type { Dependency, Tool } from "../../tool/tool.ts";
import type { Candidate } from "./scorer.ts";

/** A tool that is added because of another tool. */
export interface Companion {
  readonly tool: Tool;
  readonly type: "requires" | "suggests";
  /** The id of the other tool. */
  readonly of: string;
}

/** Drops the lower-ranked of two candidates that conflict, in either direction. Candidates come best first. */
export function dropConflicts(candidates: readonly Candidate[]): {
  readonly kept: readonly Candidate[];
  /** Maps the id of each dropped candidate to the id of the candidate that it conflicts with. */
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

export interface CompanionOptions {
  /** The number of tools up to which suggestions are added. Required tools are always added. */
  readonly limit: number;
  readonly get: (id: string) => Tool | undefined;
  /** The filter of the query, which also applies to dependencies. */
  readonly accept: (tool: Tool) => boolean;
}

/** Returns the tools to add: everything the chosen ones require, also indirectly, then suggestions while there is room. No conflicts. */
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
    // The list grows during the loop, so indirect requirements are included; `present` ends cycles.
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

/** Loads every tool that the given ones may add, also indirectly, by id. */
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

/** The tools present, and the ids that conflict with them. */
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

/** Returns the ids of a tool's dependencies. Each is written as an id, or as a name in the same namespace. Names contain no dot; ids always do. */
function idsOf({ namespace, dependencies }: Tool, ...types: readonly Dependency["type"][]): readonly string[] {
  return dependencies
    .filter(({ type }) => types.includes(type))
    .map(({ tool }) => (tool.includes(".") ? tool : `${namespace}.${tool}`));
}
