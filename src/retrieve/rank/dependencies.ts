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
  const present = createConflicts();
  const kept: Candidate[] = [];
  const conflicts = new Map<string, string>();
  for (const candidate of candidates) {
    const other = present.with(candidate.tool);
    if (other === undefined) {
      present.add(candidate.tool);
      kept.push(candidate);
    } else conflicts.set(candidate.tool.id, other);
  }
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
  const present = new Set(chosen.map((tool) => tool.id));
  const conflicts = createConflicts();
  for (const tool of chosen) conflicts.add(tool);
  const companions: Companion[] = [];

  const add = (owner: Tool, dependency: Dependency, type: Companion["type"]): Tool | undefined => {
    const tool = options.get(idOf(owner, dependency));
    if (tool === undefined || present.has(tool.id) || !options.accept(tool)) return undefined;
    if (conflicts.with(tool) !== undefined) return undefined;
    present.add(tool.id);
    conflicts.add(tool);
    companions.push({ tool, type, of: owner.id });
    return tool;
  };
  const addRequired = (owners: readonly Tool[]): void => {
    // Grows as it is read, which is what makes it transitive; `present` is what ends a cycle.
    const waiting = [...owners];
    for (const owner of waiting) {
      for (const dependency of dependenciesOf(owner, "requires")) {
        const added = add(owner, dependency, "requires");
        if (added !== undefined) waiting.push(added);
      }
    }
  };

  addRequired(chosen);
  for (const owner of chosen) {
    for (const dependency of dependenciesOf(owner, "suggests")) {
      if (present.size >= options.limit) return companions;
      const added = add(owner, dependency, "suggests");
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
    const wanted = latest
      .flatMap((owner) => owner.dependencies.flatMap((each) => (each.type === "conflicts" ? [] : [idOf(owner, each)])))
      .filter((id) => !asked.has(id));
    for (const id of wanted) asked.add(id);
    latest = wanted.length === 0 ? [] : await get([...new Set(wanted)]);
    for (const tool of latest) known.set(tool.id, tool);
  }
  return known;
}

/** Keeps tools, and says which of them another one conflicts with. */
function createConflicts(): { add(tool: Tool): void; with(tool: Tool): string | undefined } {
  const present = new Set<string>();
  const barred = new Map<string, string>();
  return {
    add(tool) {
      present.add(tool.id);
      for (const dependency of dependenciesOf(tool, "conflicts")) {
        const id = idOf(tool, dependency);
        if (!barred.has(id)) barred.set(id, tool.id);
      }
    },
    with(tool) {
      const declared = dependenciesOf(tool, "conflicts").map((dependency) => idOf(tool, dependency));
      return barred.get(tool.id) ?? declared.find((id) => present.has(id));
    },
  };
}

function dependenciesOf(tool: Tool, type: Dependency["type"]): readonly Dependency[] {
  return tool.dependencies.filter((dependency) => dependency.type === type);
}

/** The id a dependency means: it is written as one, or as a name in the same namespace. Names have no dots, ids always have one. */
function idOf(owner: Tool, dependency: Dependency): string {
  return dependency.tool.includes(".") ? dependency.tool : `${owner.namespace}.${dependency.tool}`;
}
