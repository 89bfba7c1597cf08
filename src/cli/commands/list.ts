import { count } from "../../errors/show-value.ts";
import { TOOL_SOURCES } from "../../tool/tool.ts";
import type { Command } from "../command.ts";
import { MCP_CONFIG, openArsenal } from "../arsenal/open-arsenal.ts";
import { readChoice } from "../input.ts";
import { clip, note, table } from "../terminal/style.ts";

/** `toolarsenal list` */
export const command: Command = {
  options: {
    namespace: { value: "N", description: "Only tools of this namespace" },
    source: { value: "K", description: `Only tools of this source: ${TOOL_SOURCES.join(", ")}` },
    ...MCP_CONFIG,
  },
  examples: ["list", "list --namespace billing", "list --json"],
  async run(input, terminal) {
    const { namespace } = input.options;
    const source = readChoice(input, "source", TOOL_SOURCES);
    await using arsenal = await openArsenal(input, terminal);
    const tools = await arsenal.listTools({
      ...(namespace === undefined ? {} : { namespace }),
      ...(source === undefined ? {} : { source }),
    });
    if (input.json) {
      terminal.out.write(`${JSON.stringify(tools, undefined, 2)}\n`);
      return 0;
    }
    const width = (terminal.out.columns ?? 120) - Math.max(0, ...tools.map(({ id }) => id.length)) - 3;
    if (tools.length > 0)
      terminal.out.write(
        `${table(tools.map(({ id, description }) => [id, clip(description, Math.max(20, width))]))}\n`,
      );
    note(terminal, count(tools.length, "tool"));
    return 0;
  },
};
