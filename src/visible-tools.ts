import type { AskedBy } from "./arsenal-options.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Aegis } from "./guard/aegis.ts";
import { type Principal, principalOr } from "./guard/principal.ts";
import type { Tool, ToolSource } from "./tool/tool.ts";

/** Which tools are listed. */
export interface ToolFilter extends AskedBy {
  readonly namespace?: string;
  readonly source?: ToolSource;
}

/** The tools of an arsenal as a principal knows them; the operator's knowledge where nobody is named. */
export interface VisibleTools {
  get(id: string, by: AskedBy): Tool | undefined;
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
  return {
    get(id, by) {
      const tool = parts.get(id);
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
