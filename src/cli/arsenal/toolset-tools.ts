import type { ToolArsenal } from "../../arsenal.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Toolset } from "../../toolset/toolset.ts";

/** The tools of a toolset, and the ids it names that no tool has. */
export async function toolsetTools(
  arsenal: ToolArsenal,
  { name, filter }: Toolset,
): Promise<{ readonly tools: readonly Tool[]; readonly missing: readonly string[] }> {
  const tools = await arsenal.listTools({ toolset: name });
  const named = namedIds(filter);
  const known = new Set((await arsenal.listTools({ filter: { ids: named } })).map(({ id }) => id));
  return { tools, missing: named.filter((id) => !known.has(id)) };
}

function namedIds(filter: ToolFilter): readonly string[] {
  if ("ids" in filter) return filter.ids;
  if ("not" in filter) return namedIds(filter.not);
  const parts = "all" in filter ? filter.all : "any" in filter ? filter.any : [];
  return [...new Set(parts.flatMap(namedIds))];
}
