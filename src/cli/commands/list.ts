import { ArsenalError } from "../../errors/arsenal-error.ts";
import { TOOL_SOURCES, type ToolSource } from "../../tool/tool.ts";
import type { Command } from "../command.ts";
import { MCP_CONFIG, openArsenal } from "../open-arsenal.ts";
import { clip, styles, table } from "../style.ts";

/** `toolarsenal list` */
export const list: Command = {
  name: "list",
  summary: "List the registered tools.",
  positionals: [],
  options: {
    namespace: { type: "string", value: "N", description: "Only tools of this namespace" },
    source: { type: "string", value: "K", description: `Only tools of this source: ${TOOL_SOURCES.join(", ")}` },
    ...MCP_CONFIG,
  },
  examples: ["list", "list --namespace billing", "list --json"],
  async run(input, terminal) {
    const { namespace, source } = input.options;
    if (source !== undefined && !TOOL_SOURCES.includes(source as ToolSource)) {
      throw new ArsenalError(
        "INPUT_INVALID",
        `--source: there is no source "${String(source)}". Use one of ${TOOL_SOURCES.join(", ")}.`,
        {
          field: "--source",
          value: source,
          fix: `One of ${TOOL_SOURCES.join(", ")}.`,
        },
      );
    }
    await using arsenal = await openArsenal(input, terminal);
    const tools = await arsenal.listTools({
      ...(typeof namespace === "string" ? { namespace } : {}),
      ...(typeof source === "string" ? { source: source as ToolSource } : {}),
    });
    if (input.json) {
      terminal.out.write(`${JSON.stringify(tools, undefined, 2)}\n`);
      return 0;
    }
    const paint = styles(terminal.err, terminal.environment);
    const width = (terminal.out.columns ?? 120) - Math.max(0, ...tools.map(({ id }) => id.length)) - 3;
    if (tools.length > 0)
      terminal.out.write(
        `${table(tools.map(({ id, description }) => [id, clip(description, Math.max(20, width))]))}\n`,
      );
    terminal.err.write(paint.dim(`${tools.length} ${tools.length === 1 ? "tool" : "tools"}\n`));
    return 0;
  },
};
