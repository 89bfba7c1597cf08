import { addAbortSignal } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { DIALECT_NAMES, type DialectName, toDialect } from "../../adapters/dialects/built-in.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { count, messageOf, showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { convertTools, keepNames, readTools, renamed } from "../../transcode/convert-tools.ts";
import { parseJson, readNumber, wrongInput } from "../input.ts";
import { note } from "../terminal/style.ts";

const NAMES = DIALECT_NAMES.join(", ");

export const command: Command = {
  options: {
    from: { value: "D", description: `Dialect of the input, or auto to detect it: ${NAMES}` },
    to: { value: "D", description: "Dialect of the output" },
    strict: { description: "Use the provider's strict mode, and report tools that do not support it" },
    limit: { value: "N", description: "Only the first N tools, with the provider's limits for one request" },
  },
  examples: [
    "convert --from mcp --to openai --strict < tools.json",
    "convert --from auto --to gemini < tools.json",
    "convert --from openai --to anthropic --strict --limit 30 < tools.json",
  ],
  async run(input, terminal) {
    const to = await dialectOption(input, "to");
    const limit = readNumber(input, "limit", { min: 1, max: 100_000, fallback: 0 });
    requireOption(input, "from");
    const definitions = readDefinitions(await readInput(terminal));
    const from = await dialectOption(input, "from", definitions[0]);

    const { tools, losses } = await readTools(limit === 0 ? definitions : definitions.slice(0, limit), from);
    const strict = input.flags.has("strict");
    const nameOf = keepNames(tools, to);
    const converted = convertTools(tools, to, { strict, limited: limit > 0, nameOf });
    const all = [...losses, ...renamed(tools, nameOf), ...converted.losses];
    terminal.out.write(`${JSON.stringify({ tools: converted.tools, losses: all }, undefined, 2)}\n`);
    const strictly = strict ? `, ${converted.strict} of them strict` : "";
    if (!input.json)
      note(terminal, `${count(converted.tools.length, "tool")}${strictly}, ${count(all.length, "loss", "losses")}`);
    return converted.tools.length === 0 && definitions.length > 0 ? 1 : 0;
  },
};

export async function dialectOption(input: Input, option: string, hint?: unknown): Promise<Dialect> {
  const name = requireOption(input, option);
  try {
    return await toDialect(name as DialectName, hint);
  } catch (error) {
    const details = { field: `--${option}`, value: name, fix: `Use one of ${NAMES}.` };
    throw new ArsenalError("INPUT_INVALID", `--${option}: ${messageOf(error)}`, details);
  }
}

function requireOption(input: Input, option: string): string {
  const value = input.options[option];
  if (value !== undefined) return value;
  throw wrongInput(`--${option}`, value, `--${option} is missing.`, `Write --${option} and one of ${NAMES}.`);
}

async function readInput({ protocol, signal }: Terminal): Promise<string> {
  const stdin = protocol?.input ?? process.stdin;
  if (protocol === undefined && process.stdin.isTTY) throw noInput("stdin is a terminal", undefined);
  return readText(addAbortSignal(signal, stdin));
}

/** Reads the definitions in `{"tools": […]}` or a list. Gemini's API nests them one level deeper. */
function readDefinitions(text: string): readonly unknown[] {
  const value = parseJson(text, (reason) => {
    throw noInput(`it is not JSON: ${reason}`, text);
  });
  const tools = isPlainObject(value) ? value["tools"] : value;
  if (!Array.isArray(tools)) throw noInput(`it is ${showValue(value)}`, value);
  return tools.flatMap((tool: unknown) =>
    isPlainObject(tool) && Array.isArray(tool["functionDeclarations"]) ? tool["functionDeclarations"] : [tool],
  );
}

function noInput(problem: string, value: unknown): Error {
  const fix = 'Pipe in {"tools": […]} or a list of definitions: toolarsenal convert … < tools.json';
  return wrongInput("stdin", value, `Cannot read tools from standard input: ${problem}.`, fix);
}
