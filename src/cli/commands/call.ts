import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ToolArsenal } from "../../arsenal.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { formatResult } from "../../execute/format-result.ts";
import type { ToolCall } from "../../execute/call.ts";
import type { ToolResult } from "../../execute/result.ts";
import { localOperator } from "../../guard/principal.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { openArsenal } from "../open-arsenal.ts";

/** `toolarsenal call` */
export const call: Command = {
  name: "call",
  summary: "Run one tool under policy.",
  positionals: ["TOOL"],
  options: {
    args: { type: "string", value: "JSON", description: "The arguments, as a JSON object" },
    "args-file": { type: "string", value: "FILE", description: "A file with the arguments" },
    approve: { type: "boolean", description: "Approve the call yourself, where security.self_approval is local" },
  },
  examples: [
    `call crm.find_customer --args '{"name":"Dana"}'`,
    "call billing.refund_user --args-file refund.json --approve",
  ],
  async run(input, terminal) {
    const request: ToolCall = {
      toolName: input.positionals[0] ?? "",
      arguments: await readArguments(input, terminal),
      signal: terminal.signal,
    };
    await using arsenal = await openArsenal(input, terminal);
    let result = await arsenal.execute(request);
    if (result.status === "pending_confirmation" && input.options["approve"] === true)
      result = await approveAndRepeat(arsenal, request, result);
    if (input.json) terminal.out.write(`${JSON.stringify(result, undefined, 2)}\n`);
    else if (result.status === "success") terminal.out.write(`${formatResult(result, request)}\n`);
    else terminal.err.write(`${formatResult(result, request)}\n`);
    return result.status === "success" ? 0 : 1;
  },
};

async function approveAndRepeat(arsenal: ToolArsenal, request: ToolCall, pending: ToolResult): Promise<ToolResult> {
  const { confirmationId } = pending;
  if (confirmationId === undefined) return pending;
  arsenal.approvals.approve(confirmationId, localOperator());
  return arsenal.execute({ ...request, confirmationId });
}

async function readArguments(input: Input, terminal: Terminal): Promise<Record<string, unknown>> {
  const { args, "args-file": file } = input.options;
  const refuse = (field: string, problem: string): never => {
    throw new ArsenalError("INPUT_INVALID", `${field}: ${problem}`, {
      field,
      fix: `Write --args '{"name": "value"}'.`,
    });
  };
  if (args !== undefined && file !== undefined) refuse("--args", "give either --args or --args-file, not both.");
  if (args === undefined && file === undefined) return {};
  const field = args === undefined ? "--args-file" : "--args";
  const text =
    typeof args === "string"
      ? args
      : await readFile(resolve(terminal.folder, String(file)), "utf8").catch(() =>
          refuse(field, `the file ${String(file)} cannot be read.`),
        );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    refuse(field, `not JSON: ${error instanceof Error ? error.message : ""}. The arguments are a JSON object.`);
  }
  return isPlainObject(value) ? value : refuse(field, `the arguments are a JSON object, not ${showValue(value)}.`);
}
