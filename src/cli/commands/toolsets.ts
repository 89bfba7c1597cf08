import type { ToolArsenal } from "../../arsenal.ts";
import { count } from "../../errors/show-value.ts";
import { localOperator } from "../../guard/principal.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Toolset } from "../../toolset/toolset.ts";
import type { Command } from "../command.ts";
import { MCP_CONFIG, openArsenal } from "../arsenal/open-arsenal.ts";
import { clip, printList } from "../terminal/style.ts";

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
      const rows = tools.map(({ id, description }) => [id, clip(description, width)]);
      const absent = missing.length === 0 ? "" : `. Named, but not in the catalog: ${missing.join(", ")}`;
      const data = { ...toolset, tools: tools.map(({ id }) => id), missing };
      return printList(input, terminal, data, rows, `${count(tools.length, "tool")}${absent}`);
    }
    const toolsets = await Promise.all(
      arsenal.toolsets.list(localOperator()).map(async (toolset) => {
        const tools = await arsenal.listTools({ toolset: toolset.name });
        return { ...toolset, toolCount: tools.length };
      }),
    );
    const rows = toolsets.map((toolset) => [
      toolset.name,
      count(toolset.toolCount, "tool"),
      clip(toolset.description, width),
    ]);
    const none = "No toolsets: define them under toolsets in the configuration. See docs/toolsets.md.";
    printList(input, terminal, toolsets, rows, toolsets.length === 0 ? none : "");
  },
};

export async function toolsetTools(arsenal: ToolArsenal, { name, filter }: Toolset) {
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
