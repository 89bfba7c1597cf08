import type { Principal } from "../../guard/principal.ts";
import type { Tool } from "../../tool/tool.ts";
import { looselyMeant } from "../../register/look-up.ts";
import { fromFormerAlias, isCutAlias, toAlias } from "../../transcode/alias.ts";
import { META_TOOL_NAMES } from "./definitions.ts";
import { type ServedArsenal, CHANGES_TOOLS } from "../served-arsenal.ts";
import { setNewest } from "../../base/remember.ts";
import { fromToolName } from "./shown-tool.ts";

/** The tools that one principal may see, indexed by every name that refers to one of them. */
export type CatalogView = ReturnType<typeof createView>;

/** Maximum number of cached views. The least recently used one is dropped. */
const MAX_VIEWS = 64;

/** Caches the views of one arsenal until the catalog changes. The arsenal still checks the policy for every list, search and call. */
export function createCatalogViews(arsenal: Pick<ServedArsenal, "listTools" | "subscribe">) {
  const views = new Map<string, Promise<CatalogView>>();
  const unsubscribe = arsenal.subscribe(() => views.clear(), { names: CHANGES_TOOLS });

  return {
    of(principal: Principal): Promise<CatalogView> {
      const key = keyOf(principal);
      const view = views.get(key) ?? arsenal.listTools({ principal }).then(createView);
      view.catch(() => views.delete(key));
      return setNewest(views, key, view, MAX_VIEWS);
    },
    /** Drops every view. Events about the catalog arrive one turn late, so a caller that has just changed the catalog calls this. */
    clear: (): void => views.clear(),
    close: unsubscribe,
  };
}

function keyOf({ id, tenant, roles, capabilities, scopes, local }: Principal): string {
  return JSON.stringify([id, tenant ?? null, roles, capabilities, scopes, local]);
}

function createView(tools: readonly Tool[]) {
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  let cut: ReadonlyMap<string, Tool> | undefined;
  let loose: ReadonlyMap<string, Tool | "several"> | undefined;

  /** Returns the tool that a client's name refers to, matched strictly. */
  function named(name: string): Tool | undefined {
    const asked = fromToolName(name);
    if (asked === undefined) return undefined;
    if (!isCutAlias(asked)) return byId.get(asked) ?? byId.get(fromFormerAlias(name) ?? "");
    cut ??= new Map(tools.map((tool) => [toAlias(tool.id), tool] as const).filter(([alias]) => isCutAlias(alias)));
    return cut.get(asked);
  }

  return {
    named,
    /**
     * Returns the tool that a model refers to, also by qualified name, or by a bare or source name that only one tool has. Undefined for a
     * meta-tool's name.
     */
    meant(name: string): Tool | undefined {
      if (META_TOOL_NAMES.has(name)) return undefined;
      const exact = named(name);
      if (exact !== undefined) return exact;
      const found = (loose ??= looseNames(tools)).get(name);
      if (found === "several") return undefined;
      return found ?? looselyMeant(name, tools);
    },
  };
}

/** Indexes names and source names. A name that several tools have is marked. */
function looseNames(tools: readonly Tool[]): ReadonlyMap<string, Tool | "several"> {
  const names = new Map<string, Tool | "several">();
  for (const tool of tools) {
    const spellings = [tool.name, tool.sourceName, `${tool.id}:${tool.version}`];
    for (const name of new Set(spellings)) names.set(name, names.has(name) ? "several" : tool);
  }
  return names;
}
