import type { AskedBy } from "./options.ts";
import type { CatalogEngine } from "../catalog/catalog-engine.port.ts";
import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import type { Aegis } from "../guard/aegis.ts";
import { type Principal, principalOr } from "../guard/principal.ts";
import { toName } from "../tool/normalise/slug.ts";
import type { Toolsets } from "../toolset/toolsets.ts";
import { EVERY_TOOL, filterProblem, type ToolFilter } from "../tool/tool-filter.ts";
import type { Tool, ToolSource } from "../tool/tool.ts";

/** Which tools are listed. */
export interface ListToolsOptions extends AskedBy {
  readonly namespace?: string;
  readonly source?: ToolSource;
  /** Any other condition, as data. */
  readonly filter?: ToolFilter;
  /** At most this many, 1 or more. Defaults to all of them. Reads about as many, however large the catalog is. */
  readonly limit?: number;
  /** Only tools whose id comes after this one: the last id of the page before. */
  readonly after?: string;
}

export type VisibleTools = ReturnType<typeof createVisibleTools>;

/** The tools of an arsenal as a principal sees them. The principal defaults to the operator. */
export function createVisibleTools(parts: {
  /** The tool with exactly this id, whether or not it is ever listed. */
  readonly get: (id: string) => Promise<Tool | undefined>;
  readonly engine: Pick<CatalogEngine, "list">;
  readonly aegis: Pick<Aegis, "sees" | "visible">;
  readonly operator: Principal;
  readonly toolsets: Pick<Toolsets, "get">;
}) {
  const { engine, aegis, operator } = parts;
  const principalOf = ({ principal: given, toolset }: AskedBy): Principal => {
    const principal = principalOr(operator, given);
    if (toolset !== undefined) parts.toolsets.get(toolset, principal);
    return principal;
  };
  /** Finds the tool of that name, or of the name's registered form: `getWeather` finds `get_weather`. Ignores visibility. */
  const find = async (name: string, namespace: string): Promise<Tool | undefined> =>
    (await parts.get(`${namespace}.${name}`)) ?? parts.get(`${namespace}.${toName(name)}`);
  return {
    find,
    /** Like `find`, but only if the caller may see the tool. */
    async get(name: string, namespace: string, by: AskedBy): Promise<Tool | undefined> {
      const principal = principalOf(by);
      const tool = await find(name, namespace);
      return tool && aegis.sees(tool, principal, by) ? tool : undefined;
    },
    /** Ordered by id. */
    async list(options: ListToolsOptions): Promise<readonly Tool[]> {
      const { namespace, source, filter: asked = EVERY_TOOL, limit = Infinity, after, ...by } = options;
      const principal = principalOf(by);
      refuseFilter(asked);
      refusePage(limit, after);
      const wanted = [
        asked,
        ...(namespace === undefined ? [] : [{ namespaces: [namespace] }]),
        ...(source === undefined ? [] : [{ sources: [source] }]),
        aegis.visible(principal, by) ?? EVERY_TOOL,
      ];
      const found: Tool[] = [];
      for (let cursor = after; ;) {
        const left = limit - found.length;
        const place = { ...(cursor !== undefined && { cursor }), ...(left < PAGE && { limit: left }) };
        const page = await engine.list({ filter: { all: wanted }, ...place });
        for (const tool of page.tools) if (aegis.sees(tool, principal, by)) found.push(tool);
        cursor = page.next;
        if (cursor === undefined || found.length >= limit) return found;
      }
    },
  };
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
