import { ArsenalError } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { Principal } from "../guard/principal.ts";
import { type FilteredTool, toPredicate } from "../tool/tool-filter.ts";
import type { Toolset } from "./toolset.ts";

/** The toolsets of one arsenal, by name. */
export interface Toolsets {
  /** Adds a toolset, or replaces the one of that name. Throws CONFIG_INVALID if it is malformed. */
  add(toolset: Toolset): void;
  /** Returns false if there is none of that name. */
  remove(name: string): boolean;
  /** The toolset of that name, if the caller may use it. */
  find(name: string, principal: Principal): Toolset | undefined;
  /** The same. Throws TOOLSET_NOT_FOUND, which says the same of a toolset that is unknown and of one the caller may not use. */
  get(name: string, principal: Principal): Toolset;
  /** Those the caller may use, ordered by name. */
  list(principal: Principal): readonly Toolset[];
  /** Whether a toolset has a tool, whoever asks. False if there is no such toolset. */
  has(name: string, tool: FilteredTool): boolean;
  /** Calls back when a toolset was added, replaced or removed. Returns what ends it. */
  watch(changed: (name: string) => void): () => void;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function createToolsets(initial: readonly Toolset[] = []): Toolsets {
  const known = new Map<string, { readonly toolset: Toolset; readonly matches: (tool: FilteredTool) => boolean }>();
  const watchers = new Set<(name: string) => void>();

  function add(toolset: Toolset): void {
    refuseName(toolset.name);
    known.set(toolset.name, { toolset, matches: toPredicate(toolset.filter) });
    for (const changed of watchers) changed(toolset.name);
  }

  function find(name: string, principal: Principal): Toolset | undefined {
    const toolset = known.get(name)?.toolset;
    return toolset && admits(toolset, principal) ? toolset : undefined;
  }

  const list = (principal: Principal): readonly Toolset[] =>
    Array.from(known.values(), ({ toolset }) => toolset)
      .filter((toolset) => admits(toolset, principal))
      .sort((a, b) => (a.name < b.name ? -1 : 1));

  for (const toolset of initial) add(toolset);
  return {
    add,
    remove(name) {
      const removed = known.delete(name);
      if (removed) for (const changed of watchers) changed(name);
      return removed;
    },
    find,
    get(name, principal) {
      const found = find(name, principal);
      if (found) return found;
      const names = list(principal).map((toolset) => toolset.name);
      const near = nearest(String(name), names);
      const fix =
        near !== undefined
          ? `Did you mean ${showValue(near)}?`
          : names.length === 0
            ? "None is defined for you: define it under toolsets in the configuration."
            : `Known toolsets: ${names.join(", ")}.`;
      throw new ArsenalError("TOOLSET_NOT_FOUND", `There is no toolset ${showValue(name)}. ${fix}`, {
        field: "toolset",
        value: name,
        fix,
      });
    },
    list,
    has: (name, tool) => known.get(name)?.matches(tool) ?? false,
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
  };
}

function refuseName(name: unknown): void {
  if (typeof name === "string" && NAME.test(name)) return;
  const fix = "Use 1 to 64 lowercase letters, digits, hyphens or underscores, such as customer-acme.";
  const message = `The toolset name ${showValue(name)} is invalid. ${fix}`;
  throw new ArsenalError("CONFIG_INVALID", message, { field: "name", value: name, fix });
}

/** Whether a caller may use a toolset. The local operator, who sees the whole catalog anyway, always may. */
function admits({ policy }: Pick<Toolset, "policy">, principal: Principal): boolean {
  if (principal.local) return true;
  const { allowedTenants, allowedRoles } = policy;
  if (allowedTenants && !(principal.tenant !== undefined && allowedTenants.includes(principal.tenant))) return false;
  return allowedRoles === undefined || principal.roles.some((role) => allowedRoles.includes(role));
}
