import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ToolArsenal } from "../../arsenal.ts";
import { harmless, showValue } from "../../errors/show-value.ts";
import { formatResult } from "../../execute/results/format-result.ts";
import type { ToolCall } from "../../execute/call.ts";
import type { ToolResult } from "../../execute/result.ts";
import { localOperator } from "../../guard/principal.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { MCP_CONFIG, openArsenal, throughToolset, TOOLSET } from "../arsenal/open-arsenal.ts";
import { parseJson, wrongInput } from "../input.ts";
import { PROGRAM } from "../program.ts";

export const command: Command = {
  positionals: ["TOOL"],
  options: {
    args: { value: "JSON", description: "The arguments, as a JSON object" },
    "args-file": { value: "FILE", description: "A file with the arguments" },
    approve: { description: "Approve the call yourself, unless security.self_approval is never" },
    "no-cache": { description: "Run the tool even if its result is cached (execution.result_cache)" },
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: [
    `call crm.find_customer --args '{"name":"Dana"}'`,
    "call billing.process_refund --args-file refund.json --approve",
  ],
  async run(input, terminal) {
    const args = await readArguments(input, terminal);
    await using arsenal = await openArsenal(input, terminal, { told: ["call-finished"] });
    return await callTool(arsenal, input.positionals[0] ?? "", args, input, terminal);
  },
};

/** Runs a tool, approves its calls if `--approve` is given, and prints the result. Returns the exit code. */
export async function callTool(
  arsenal: ToolArsenal,
  toolName: string,
  args: Record<string, unknown>,
  input: Input,
  terminal: Terminal,
): Promise<number> {
  const request: ToolCall = {
    toolName,
    arguments: args,
    signal: terminal.signal,
    ...(input.flags.has("no-cache") && { cache: false }),
    ...throughToolset(input, arsenal),
  };
  let result = await arsenal.execute(request);
  const approved = new Set<string>();
  // A workflow may wait for several approvals in sequence.
  for (;;) {
    const { confirmationId } = result;
    const isWaiting = result.status === "pending_confirmation" && confirmationId !== undefined;
    if (!isWaiting || !input.flags.has("approve") || approved.has(confirmationId)) break;
    approved.add(confirmationId);
    await arsenal.approvals.approve(confirmationId, localOperator());
    result = await arsenal.execute({ ...request, confirmationId });
  }
  if (input.json) terminal.out.write(`${JSON.stringify(result, undefined, 2)}\n`);
  else if (result.status === "pending_confirmation") terminal.err.write(waitingText(result, input));
  else {
    const stream = result.status === "success" ? terminal.out : terminal.err;
    const text = formatResult(result, request);
    // A pipe gets the output unchanged. A terminal must not interpret control characters in the output.
    stream.write(`${stream.isTTY ? harmless(text) : text}\n`);
  }
  return result.status === "success" ? 0 : 1;
}

/** Explains how to approve the call. `formatResult` addresses models, which must not approve. */
function waitingText({ toolName, confirmationId, error, attempts }: ToolResult, { config }: Input): string {
  if (confirmationId === undefined) return `${harmless(error?.message ?? `${toolName} waits for approval.`)}\n`;
  const from = config === undefined ? "" : ` --config ${config}`;
  return [
    `${toolName} waits for approval.${attempts > 0 ? "" : " Nothing has run."}`,
    `  Approve it:   ${PROGRAM} approvals approve ${confirmationId}${from}`,
    "  Then run this command again. To do both at once, run it again with --approve.",
    "",
  ].join("\n");
}

const OBJECT = `Write the arguments as a JSON object: '{"name": "value"}'.`;

/** Reads the arguments of a call from `--args` or `--args-file`. */
export async function readArguments(input: Input, terminal: Terminal): Promise<Record<string, unknown>> {
  const { args, "args-file": file } = input.options;
  const refuse = (field: string, value: unknown, problem: string, fix: string = OBJECT): never => {
    throw wrongInput(field, value, `${field}: ${problem}.`, fix);
  };
  if (args !== undefined && file !== undefined)
    refuse("--args", args, `cannot be combined with --args-file ${showValue(file)}`, "Use one of the two.");
  if (args === undefined && file === undefined) return {};
  const field = args === undefined ? "--args-file" : "--args";
  const path = resolve(terminal.folder, file ?? "");
  const unread = (): never => refuse(field, file, `cannot read ${file}`, "Check the path.");
  const text = args ?? (await readFile(path, "utf8").catch(unread));
  const value = parseJson(text, (reason) => refuse(field, text, `${showValue(text)} is not JSON: ${reason}`));
  return isPlainObject(value) ? value : refuse(field, value, `${showValue(value)} is not a JSON object`);
}
