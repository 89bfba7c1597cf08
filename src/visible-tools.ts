import type { AskedBy } from "./arsenal-options.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Aegis } from "./guard/aegis.ts";
import { type Principal, principalOr } from "./guard/principal.ts";
import { toName } from "./tool/slug.ts";
import type { Tool, ToolSource } from "./tool/tool.ts";

/** Which tools are listed. */
export interface ToolFilter extends AskedBy {
  readonly namespace?: string;
  readonly source?: ToolSource;
}

/** The tools of an arsenal as a principal sees them. The principal defaults to the operator. */
export interface VisibleTools {
  /** The tool of that name, or of what the name becomes when it is registered: `getWeather` finds `get_weather`. Ignores who asks. */
  find(name: string, namespace: string): Tool | undefined;
  /** The same, if the caller may see it. */
  get(name: string, namespace: string, by: AskedBy): Tool | undefined;
  /** Ordered by id. */
  list(filter: ToolFilter): readonly Tool[];
}

/** Looks at the tools with the eyes of whoever asks. */
export function createVisibleTools(parts: {
  /** The tool with exactly this id, whether or not it is ever listed. */
  readonly get: (id: string) => Tool | undefined;
  readonly catalog: Pick<Catalog, "all">;
  readonly aegis: Pick<Aegis, "sees">;
  readonly operator: Principal;
}): VisibleTools {
  const { catalog, aegis, operator } = parts;
  const find = (name: string, namespace: string): Tool | undefined =>
    parts.get(`${namespace}.${name}`) ?? parts.get(`${namespace}.${toName(name)}`);
  return {
    find,
    get(name, namespace, by) {
      const tool = find(name, namespace);
      return tool && aegis.sees(tool, principalOr(operator, by.principal)) ? tool : undefined;
    },
    list({ namespace, source, principal: asked }) {
      const principal = principalOr(operator, asked);
      return [...catalog.all()]
        .filter(
          (tool) =>
            (namespace === undefined || tool.namespace === namespace) &&
            (source === undefined || tool.source === source) &&
            aegis.sees(tool, principal),
        )
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
}
