import { DIALECT_NAMES } from "../../adapters/dialects/built-in.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Command, Terminal } from "../command.ts";
import { convertTools } from "../convert/convert-tools.ts";
import { MCP_CONFIG, openArsenal } from "../arsenal/open-arsenal.ts";
import { readNumber } from "../read-number.ts";
import { styles } from "../terminal/style.ts";
import { dialectOption } from "./convert.ts";

/** `toolarsenal export` */
export const exportTools: Command = {
  name: "export",
  summary: "Print tool definitions in the format of a model's API.",
  positionals: [],
  options: {
    dialect: { type: "string", value: "D", description: `One of ${DIALECT_NAMES.join(", ")}` },
    query: { type: "string", value: "Q", description: "Only the tools that fit this request, best first" },
    limit: { type: "string", value: "N", description: "Print at most N tools", fallback: "5 with --query, else all" },
    strict: { type: "boolean", description: "Use the provider's strict mode, within its limits for one request" },
    ...MCP_CONFIG,
  },
  examples: ["export --dialect anthropic", 'export --dialect openai --query "refund the customer" --limit 3'],
  async run(input, terminal) {
    const dialect = await dialectOption(input, "dialect");
    const { query, limit: given, strict } = input.options;
    const bounds =
      typeof query === "string" ? { min: 1, max: 50, fallback: 5 } : { min: 1, max: 100_000, fallback: 100_000 };
    const limit = readNumber(given, "--limit", bounds);
    await using arsenal = await openArsenal(input, terminal);
    const tools = await chooseTools(arsenal, typeof query === "string" ? query : undefined, limit, terminal);
    const converted = convertTools(tools, dialect, { strict: strict === true, limited: true });
    terminal.out.write(`${JSON.stringify({ tools: converted.tools, losses: converted.losses }, undefined, 2)}\n`);
    if (!input.json) {
      const paint = styles(terminal.err, terminal.environment);
      terminal.err.write(
        paint.dim(`${converted.tools.length} ${converted.tools.length === 1 ? "tool" : "tools"} for ${dialect.name}\n`),
      );
    }
    return 0;
  },
};

async function chooseTools(
  arsenal: ToolArsenal,
  query: string | undefined,
  limit: number,
  { signal }: Terminal,
): Promise<readonly Tool[]> {
  if (query === undefined) return (await arsenal.listTools()).slice(0, limit);
  const { tools } = await arsenal.retrieve({ context: { query }, limit, signal });
  return tools.map(({ tool }) => tool);
}
