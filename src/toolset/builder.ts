import { nearest, showValue } from "../errors/show-value.ts";
import type { Tool } from "../tool/tool.ts";
import { filterProblem, type ToolFilter } from "../tool/tool-filter.ts";
import type { AccessPolicy, Selection, Toolset } from "./toolset.ts";
import {
  idsProblem,
  policyProblem,
  refuseName,
  refuseToolset,
  textProblem,
  textsProblem,
  toFilter,
  type Toolsets,
  type ToolsetProblem,
} from "./toolsets.ts";

/** The part of an arsenal that a toolset is built from. */
export interface ToolsetCatalog {
  readonly toolsets: Toolsets;
  listTools(options: { readonly filter?: ToolFilter; readonly includeRefused?: boolean }): Promise<readonly Tool[]>;
}

/**
 * Builds a toolset step by step. Every step returns a new builder. Several values of one kind mean any of them, in one step or in several; different
 * kinds must all hold. A toolset without conditions has every tool. An invalid value throws CONFIG_INVALID immediately.
 */
export interface ToolsetBuilder {
  /** The arsenal whose tools are selected. Needed before `build`. */
  fromCatalog(arsenal: ToolsetCatalog): ToolsetBuilder;
  withDescription(description: string): ToolsetBuilder;
  /** Tags of the toolset itself. `withTags` selects tools by their tags. */
  taggedAs(...tags: readonly string[]): ToolsetBuilder;
  /** The caller with this id may always use the toolset. */
  ownedBy(owner: string): ToolsetBuilder;
  withNamespace(...namespaces: readonly string[]): ToolsetBuilder;
  withTags(...tags: readonly string[]): ToolsetBuilder;
  /** Selects tools by id: `namespace.name`. */
  withTools(...ids: readonly string[]): ToolsetBuilder;
  withCategory(...categories: readonly string[]): ToolsetBuilder;
  /** Excludes tools by id, regardless of all other conditions. */
  excludeTools(...ids: readonly string[]): ToolsetBuilder;
  /** Adds a filter. Several filters must all hold. */
  where(filter: ToolFilter): ToolsetBuilder;
  /** Restricts callers and rates. By default everyone may use the toolset. Later keys replace earlier ones. */
  withPolicy(policy: AccessPolicy): ToolsetBuilder;
  /** Fixes the list of tools when the toolset is built. By default, tools that match later are added. */
  frozen(): ToolsetBuilder;
  /**
   * Adds the toolset to `arsenal.toolsets`, replacing a toolset of the same name, and returns it. Ids that are not in the catalog yet are reported
   * with the event `toolset-tools-missing`; a frozen toolset refuses them.
   */
  build(): Promise<Toolset>;
}

/**
 * Starts a toolset: a curated view over the catalog of an arsenal.
 *
 * @example
 * await createToolset("devops-tools")
 *   .fromCatalog(arsenal)
 *   .withNamespace("github", "kubernetes")
 *   .excludeTools("github.delete_repo")
 *   .withPolicy({ allowedRoles: ["devops"] })
 *   .build();
 * const tools = await arsenal.listTools({ toolset: "devops-tools" });
 */
export function createToolset(name: string): ToolsetBuilder {
  refuseName(name);
  return builder({ name, description: "", tags: [], select: {}, policy: {}, view: "live" });
}

interface Draft extends Pick<Toolset, "name" | "description" | "tags" | "owner" | "policy" | "view"> {
  readonly catalog?: ToolsetCatalog;
  readonly select: Selection;
}

function builder(draft: Draft): ToolsetBuilder {
  const refuse = (problem: ToolsetProblem | undefined): void => {
    if (problem !== undefined) refuseToolset(draft.name, problem);
  };
  const next = (change: Partial<Draft>): ToolsetBuilder => builder({ ...draft, ...change });
  const select = (kind: "namespaces" | "tags" | "tools" | "categories" | "exclude", values: readonly string[]) => {
    refuse(kind === "tools" || kind === "exclude" ? idsProblem(kind, values) : textsProblem(kind, values));
    return next({ select: { ...draft.select, [kind]: [...(draft.select[kind] ?? []), ...values] } });
  };
  return {
    fromCatalog(catalog) {
      if (typeof catalog?.listTools !== "function" || typeof catalog.toolsets?.add !== "function") {
        const message = `is not an arsenal: ${showValue(catalog)}`;
        refuse({ field: "catalog", value: catalog, message, fix: "Pass a ToolArsenal to .fromCatalog." });
      }
      return next({ catalog });
    },
    withDescription(description) {
      refuse(textProblem("description", description));
      return next({ description });
    },
    taggedAs(...tags) {
      refuse(textsProblem("taggedAs", tags));
      return next({ tags: [...draft.tags, ...tags] });
    },
    ownedBy(owner) {
      refuse(textsProblem("owner", [owner]));
      return next({ owner });
    },
    withNamespace: (...namespaces) => select("namespaces", namespaces),
    withTags: (...tags) => select("tags", tags),
    withTools: (...ids) => select("tools", ids),
    withCategory: (...categories) => select("categories", categories),
    excludeTools: (...ids) => select("exclude", ids),
    where(filter) {
      refuse(filterProblem(filter, "where"));
      const { where } = draft.select;
      return next({ select: { ...draft.select, where: where === undefined ? filter : { all: [where, filter] } } });
    },
    withPolicy(policy) {
      refuse(policyProblem(policy));
      return next({ policy: { ...draft.policy, ...policy } });
    },
    frozen: () => next({ view: "frozen" }),
    build: () => build(draft),
  };
}

async function build({ catalog, select, ...toolset }: Draft): Promise<Toolset> {
  const { name, view } = toolset;
  if (catalog === undefined) {
    const fix = "Call .fromCatalog(arsenal) before .build().";
    return refuseToolset(name, { field: "catalog", message: "is missing", fix });
  }
  const filter = toFilter(select);
  const [tools, exclude] = [select.tools ?? [], select.exclude ?? []];
  const missing = await missingIds(catalog, [...tools, ...exclude]);
  const [first] = missing;
  const hint = first === undefined ? "" : await suggestion(catalog, first);
  if (view === "live") {
    const built = catalog.toolsets.add({ ...toolset, filter });
    const message = `The catalog has no tool ${showValue(first)} yet. ${hint}`;
    if (first !== undefined) catalog.toolsets.reportMissing({ toolset: name, ids: missing, message });
    return built;
  }
  if (first !== undefined) {
    const field = tools.includes(first) ? "tools" : "exclude";
    const message = `names ${showValue(first)}, which the catalog does not have`;
    refuseToolset(name, { field, value: first, message, fix: hint });
  }
  const ids = (await catalog.listTools({ filter, ...WHOLE })).map(({ id }) => id);
  if (ids.length === 0) {
    const fix = "Build it once its tools are registered and connected, or leave out .frozen().";
    refuseToolset(name, { field: "view", message: "is frozen, and no tool matches now, so it would stay empty", fix });
  }
  return catalog.toolsets.add({ ...toolset, filter: { ids } });
}

/** Includes tools that the building program itself may not call, because the toolset's callers may have other rights. */
const WHOLE = { includeRefused: true } as const;

async function missingIds(catalog: ToolsetCatalog, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const known = new Set((await catalog.listTools({ filter: { ids }, ...WHOLE })).map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

async function suggestion(catalog: ToolsetCatalog, id: string): Promise<string> {
  const known = (await catalog.listTools(WHOLE)).map((tool) => tool.id);
  const near = nearest(id, known);
  return near === undefined ? "Check its id: toolarsenal list shows them." : `Did you mean ${showValue(near)}?`;
}
