import { count } from "../../errors/show-value.ts";
import { localOperator } from "../../guard/principal.ts";
import type { Command } from "../command.ts";
import { MCP_CONFIG, openArsenal } from "../arsenal/open-arsenal.ts";
import { toolsetTools } from "../arsenal/toolset-tools.ts";
import { clip, note, table } from "../terminal/style.ts";

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
    const print = (data: unknown, rows: readonly (readonly string[])[]): void => {
      if (input.json) terminal.out.write(`${JSON.stringify(data, undefined, 2)}\n`);
      else if (rows.length > 0) terminal.out.write(`${table(rows)}\n`);
    };
    await using arsenal = await openArsenal(input, terminal);
    if (action === "show") {
      const toolset = arsenal.toolsets.get(name, localOperator());
      const { tools, missing } = await toolsetTools(arsenal, toolset);
      const rows = tools.map(({ id, description }) => [id, clip(description, width)]);
      print({ ...toolset, tools: tools.map(({ id }) => id), missing }, rows);
      const absent = missing.length === 0 ? "" : `. Named, but not in the catalog: ${missing.join(", ")}`;
      if (!input.json) note(terminal, `${count(tools.length, "tool")}${absent}`);
      return 0;
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
    print(toolsets, rows);
    if (toolsets.length === 0 && !input.json)
      note(terminal, "No toolsets: define them under toolsets in the configuration. See docs/toolsets.md.");
    return 0;
  },
};
