import type { ToolArsenal } from "../../arsenal.ts";
import { count } from "../../errors/show-value.ts";
import { localOperator } from "../../guard/principal.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Toolset } from "../../toolset/toolset.ts";
import type { Command } from "../command.ts";
import { MCP_CONFIG, openArsenal } from "../arsenal/open-arsenal.ts";
import { clip, countRefused, printList, withMark } from "../terminal/style.ts";

export const command: Command = {
  actions: {
    list: { summary: "List the toolsets and how many tools each has" },
    show: { summary: "List the tools of one toolset", positionals: ["NAME"] },
  },
  options: MCP_CONFIG,
  examples: ["toolsets list", "toolsets show customer-acme", "toolsets show customer-acme --json"],
  async run(input, terminal) {
    const [action, name = ""] = input.positionals;
    const width = Math.max(20, (terminal.out.columns ?? 120) - 40);
    await using arsenal = await openArsenal(input, terminal);
    if (action === "show") {
      const toolset = arsenal.toolsets.get(name, localOperator());
      const { tools, missing } = await toolsetTools(arsenal, toolset);
      const rows = tools.map(({ id, description, refused }) => [id, clip(withMark(description, refused), width)]);
      const absent = missing.length === 0 ? "" : `. Named, but not in the catalog: ${missing.join(", ")}`;
      const refused = tools.flatMap((tool) => (tool.refused === undefined ? [] : [{ id: tool.id, ...tool.refused }]));
      const data = { ...toolset, tools: tools.map(({ id }) => id), refused, missing };
      const counted = `${count(tools.length, "tool")}${countRefused(tools)}${absent}`;
      return printList(input, terminal, data, rows, `${forWhom(toolset)}${counted}`);
    }
    const toolsets = await Promise.all(
      arsenal.toolsets.list(localOperator()).map(async (toolset) => {
        const tools = await arsenal.listTools({ toolset: toolset.name, includeRefused: true });
        return { ...toolset, toolCount: tools.length };
      }),
    );
    const rows = toolsets.map((toolset) => [
      toolset.name,
      count(toolset.toolCount, "tool"),
      clip(toolset.description, width),
    ]);
    const none = "No toolsets: define them under toolsets in the configuration. See docs/guides/toolsets.md.";
    printList(input, terminal, toolsets, rows, toolsets.length === 0 ? none : "");
  },
};

/** Describes the callers of a toolset: `For the roles devops, sre. ` */
function forWhom({ policy: { allowedRoles, allowedTenants } }: Toolset): string {
  const who = [
    ...(allowedRoles === undefined ? [] : [`the roles ${allowedRoles.join(", ")}`]),
    ...(allowedTenants === undefined ? [] : [`the tenants ${allowedTenants.join(", ")}`]),
  ];
  return who.length === 0 ? "" : `For ${who.join(" of ")}. `;
}

/** Returns the tools of a toolset, including those that the operator may not call, and its ids without a tool. */
export async function toolsetTools(arsenal: ToolArsenal, { name, filter }: Toolset) {
  const tools = await arsenal.listTools({ toolset: name, includeRefused: true });
  const named = namedIds(filter);
  const known = new Set(
    (await arsenal.listTools({ filter: { ids: named }, includeRefused: true })).map(({ id }) => id),
  );
  return { tools, missing: named.filter((id) => !known.has(id)) };
}

export function namedIds(filter: ToolFilter): readonly string[] {
  if ("ids" in filter) return filter.ids;
  if ("not" in filter) return namedIds(filter.not);
  const parts = "all" in filter ? filter.all : "any" in filter ? filter.any : [];
  return [...new Set(parts.flatMap(namedIds))];
}
