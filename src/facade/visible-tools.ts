import type { ViewedBy } from "./options.ts";
import type { CatalogEngine } from "../catalog/catalog-engine.port.ts";
import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import type { Aegis } from "../guard/aegis.ts";
import type { MarkedTool, Refusal } from "../guard/policy.port.ts";
import { knowsTenants, localOperator, type Principal, principalOr } from "../guard/principal.ts";
import { present } from "../base/present.ts";
import { queryFilter } from "../retrieve/filters.ts";
import type { ToolQuery } from "../retrieve/query.ts";
import { toName } from "../tool/normalise/slug.ts";
import type { Toolsets } from "../toolset/toolsets.ts";
import { EVERY_TOOL, filterProblem, type ToolFilter } from "../tool/tool-filter.ts";
import { CAPABILITIES, isUnlisted, type Tool, type ToolSource } from "../tool/tool.ts";

export interface ListToolsOptions extends ViewedBy {
  readonly namespace?: string;
  readonly source?: ToolSource;
  /** Further conditions. */
  readonly filter?: ToolFilter;
  /** Maximum number of tools to list. Defaults to all. The cost depends on the limit, not on the size of the catalog. */
  readonly limit?: number;
  /** Lists only tools after this id, which is the last id of the previous page. */
  readonly after?: string;
}

type View = Pick<ViewedBy, "toolset" | "includeRefused">;

export type Offers = ReturnType<typeof createOffers>;

/** Decides which tools lists and searches show: the tools that the caller may call, or all visible tools with `includeRefused`. */
export function createOffers(parts: {
  readonly aegis: Pick<Aegis, "sees" | "refusal" | "visible">;
  readonly toolsets: Pick<Toolsets, "get" | "has">;
  /** The role that makes a caller an operator. */
  readonly operatorRole: string;
}) {
  const { aegis, toolsets, operatorRole } = parts;
  const knowsAll = (principal: Principal, { includeRefused }: View): boolean =>
    includeRefused === true && knowsTenants(principal, operatorRole);

  /** Returns whether a caller may see the tool. */
  function knows(tool: Tool, principal: Principal, view: View): boolean {
    const { toolset } = view;
    if (!knowsAll(principal, view) || isUnlisted(tool.id)) return aegis.sees(tool, principal, view);
    return toolset === undefined || toolsets.has(toolset, tool);
  }

  return {
    /** Throws TOOLSET_NOT_FOUND if the caller may not see the toolset. */
    admit(principal: Principal, view: View): void {
      if (view.toolset !== undefined)
        toolsets.get(view.toolset, knowsAll(principal, view) ? localOperator() : principal);
    },
    knows,
    /** Returns the tool for lists and searches, marked if the caller may not call it; undefined if the tool is left out. */
    offer(tool: Tool, principal: Principal, view: View): MarkedTool | undefined {
      if (!knows(tool, principal, view)) return undefined;
      const refused = aegis.refusal(tool, principal, view);
      if (refused === undefined) return tool;
      return view.includeRefused === true || refused.listed === true ? { ...tool, refused } : undefined;
    },
    /** Returns the reason why the caller may not call the tool. */
    refusal: (tool: Tool, principal: Principal, view: View): Refusal | undefined =>
      aegis.refusal(tool, principal, view),
    /** Returns `knows` as a filter, if a filter can express it. */
    visible(principal: Principal, view: View): ToolFilter | undefined {
      if (!knowsAll(principal, view)) return aegis.visible(principal, view);
      return view.toolset === undefined ? EVERY_TOOL : toolsets.get(view.toolset, localOperator()).filter;
    },
    /** Filters by the caller's capabilities. Together with `visible`, it covers everything in `offer` that a filter can express. */
    callable({ capabilities }: Principal, { includeRefused }: View): ToolFilter {
      if (includeRefused === true || CAPABILITIES.every((each) => capabilities.includes(each))) return EVERY_TOOL;
      return { capabilities, match: "only" };
    },
  };
}

export type VisibleTools = ReturnType<typeof createVisibleTools>;

/** Reads the tools of an arsenal as a principal sees them. The principal defaults to the local operator. */
export function createVisibleTools(parts: {
  /** Returns the tool with exactly this id, even if lists leave it out. */
  readonly get: (id: string) => Promise<Tool | undefined>;
  readonly engine: Pick<CatalogEngine, "list">;
  readonly offered: Offers;
  readonly operator: Principal;
}) {
  const { engine, offered, operator } = parts;
  const principalOf = (by: ViewedBy): Principal => {
    const principal = principalOr(operator, by.principal);
    offered.admit(principal, by);
    return principal;
  };
  /** Finds a tool by its name or by the name's registered form: `getWeather` finds `get_weather`. Ignores visibility. */
  const find = async (name: string, namespace: string): Promise<Tool | undefined> =>
    (await parts.get(`${namespace}.${name}`)) ?? parts.get(`${namespace}.${toName(name)}`);
  const visible = {
    find,
    /** Like `find`, but only for tools that the caller may see. Marked if the caller may not call the tool. */
    async get(name: string, namespace: string, by: ViewedBy): Promise<MarkedTool | undefined> {
      const principal = principalOf(by);
      const tool = await find(name, namespace);
      if (tool === undefined || !offered.knows(tool, principal, by)) return undefined;
      const refused = offered.refusal(tool, principal, by);
      return refused === undefined ? tool : { ...tool, refused };
    },
    /** Returns tools ordered by id. */
    async list(options: ListToolsOptions): Promise<readonly MarkedTool[]> {
      const { namespace, source, filter: asked = EVERY_TOOL, limit = Infinity, after, ...by } = options;
      const principal = principalOf(by);
      refuseFilter(asked);
      refusePage(limit, after);
      const wanted = [
        asked,
        ...(namespace === undefined ? [] : [{ namespaces: [namespace] }]),
        ...(source === undefined ? [] : [{ sources: [source] }]),
        offered.visible(principal, by) ?? EVERY_TOOL,
        offered.callable(principal, by),
      ];
      const found: MarkedTool[] = [];
      for (let cursor = after; ;) {
        const left = limit - found.length;
        const place = { ...(cursor !== undefined && { cursor }), ...(left < PAGE && { limit: left }) };
        const page = await engine.list({ filter: { all: wanted }, ...place });
        for (const tool of page.tools) {
          const offer = offered.offer(tool, principal, by);
          if (offer !== undefined) found.push(offer);
        }
        cursor = page.next;
        if (cursor === undefined || found.length >= limit) return found;
      }
    },
    /** Returns every tool that a query could find, ordered by id. */
    async matching(query: ToolQuery): Promise<readonly Tool[]> {
      const { principal, toolset, includeRefused } = query;
      return visible.list({ ...present({ principal, toolset, includeRefused }), filter: queryFilter(query) });
    },
  };
  return visible;
}

/** The engine's default page size. */
const PAGE = 1000;

function refusePage(limit: unknown, after: unknown): void {
  if (limit !== Infinity && !(Number.isInteger(limit) && (limit as number) >= 1)) refuse("limit", limit, "1 or more");
  if (after !== undefined && typeof after !== "string") refuse("after", after, "the id of a tool");
}

function refuse(field: string, value: unknown, wanted: string): never {
  throw fixable("QUERY_INVALID", `${field} is ${showValue(value)}.`, `Give ${wanted}, or leave it out.`, {
    field,
    value,
  });
}

function refuseFilter(filter: ToolFilter): void {
  const problem = filterProblem(filter, "filter");
  if (problem === undefined) return;
  const { field, value, message, fix } = problem;
  throw fixable("QUERY_INVALID", `${field} ${message}.`, fix, { field, value });
}
