import { count } from "../../errors/show-value.ts";
import { RISK_LEVELS, TOOL_SOURCES } from "../../tool/tool.ts";
import { present } from "../../base/present.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Command } from "../command.ts";
import { MCP_CONFIG, openArsenal, throughToolset, TOOLSET } from "../arsenal/open-arsenal.ts";
import { readChoice } from "../input.ts";
import { clip, countRefused, printList, withMark } from "../terminal/style.ts";

export const command: Command = {
  options: {
    namespace: { value: "N", description: "Only tools of this namespace" },
    source: { value: "K", description: `Only tools of this source: ${TOOL_SOURCES.join(", ")}` },
    category: { value: "C", description: "Only tools of this category" },
    risk: { value: "R", description: `Only tools of this risk level: ${RISK_LEVELS.join(", ")}` },
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: ["list", "list --namespace billing", "list --risk high", "list --toolset customer-acme --json"],
  async run(input, terminal) {
    const { namespace, category } = input.options;
    const source = readChoice(input, "source", TOOL_SOURCES);
    const risk = readChoice(input, "risk", RISK_LEVELS);
    const conditions: readonly ToolFilter[] = [
      ...(category === undefined ? [] : [{ categories: [category] }]),
      ...(risk === undefined ? [] : [{ risks: [risk] }]),
    ];
    await using arsenal = await openArsenal(input, terminal);
    const tools = await arsenal.listTools({
      ...present({ namespace, source }),
      filter: { all: conditions },
      ...throughToolset(input, arsenal),
      includeRefused: true,
    });
    const width = (terminal.out.columns ?? 120) - Math.max(0, ...tools.map(({ id }) => id.length)) - 3;
    const rows = tools.map((tool) => [tool.id, clip(withMark(tool.description, tool.refused), Math.max(20, width))]);
    printList(input, terminal, tools, rows, `${count(tools.length, "tool")}${countRefused(tools)}`);
  },
};
