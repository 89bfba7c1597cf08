import { DIALECT_NAMES } from "../../adapters/dialects/built-in.ts";
import { count } from "../../errors/show-value.ts";
import type { Command } from "../command.ts";
import { convertTools } from "../../transcode/convert-tools.ts";
import { MCP_CONFIG, openArsenal, throughToolset, TOOLSET } from "../arsenal/open-arsenal.ts";
import { readNumber } from "../input.ts";
import { note } from "../terminal/style.ts";
import { dialectOption } from "./convert.ts";

export const command: Command = {
  options: {
    dialect: { value: "D", description: `One of ${DIALECT_NAMES.join(", ")}` },
    query: { value: "Q", description: "Only the tools that fit this request, best first" },
    limit: { value: "N", description: "Print at most N tools", fallback: "5 with --query, else all" },
    strict: { description: "Use the provider's strict mode, within its limits for one request" },
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: ["export --dialect anthropic", 'export --dialect openai --query "refund the customer" --limit 3'],
  async run(input, terminal) {
    const dialect = await dialectOption(input, "dialect");
    const { query } = input.options;
    const [max, fallback] = query === undefined ? [100_000, 100_000] : [50, 5];
    const limit = readNumber(input, "limit", { min: 1, max, fallback });
    await using arsenal = await openArsenal(input, terminal);
    const through = throughToolset(input, arsenal);
    const chosen =
      query === undefined
        ? (await arsenal.listTools(through)).slice(0, limit)
        : (await arsenal.retrieve({ context: { query }, limit, signal: terminal.signal, ...through })).tools.map(
            ({ tool }) => tool,
          );
    const { tools, losses } = convertTools(chosen, dialect, { strict: input.flags.has("strict"), limited: true });
    terminal.out.write(`${JSON.stringify({ tools, losses }, undefined, 2)}\n`);
    if (!input.json) note(terminal, `${count(tools.length, "tool")} for ${dialect.name}`);
  },
};
