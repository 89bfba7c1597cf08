import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { ToolArsenal } from "../../../arsenal.ts";
import { harmless } from "../../../errors/show-value.ts";
import { localOperator } from "../../../guard/principal.ts";
import type { CodeRequest, CodeResult } from "../../../programs/code-mode.ts";
import { MCP_CONFIG, openArsenal, throughToolset, TOOLSET } from "../../arsenal/open-arsenal.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { wrongInput } from "../../input.ts";
import { PROGRAM } from "../../program.ts";
import { readArguments } from "../call.ts";

export const command: Command = {
  positionals: ["FILE"],
  options: {
    args: { value: "JSON", description: "The program's input, as a JSON object" },
    "args-file": { value: "FILE", description: "A file with the input" },
    approve: { description: "Approve its calls yourself, unless security.self_approval is never" },
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: ["run report.ts", "run report.ts --approve", `run - <<< 'await crm.find_customer({ name: "Dana" })'`],
  async run(input, terminal) {
    const code = await readProgram(input.positionals[0] ?? "", terminal);
    const isGiven = input.options["args"] !== undefined || input.options["args-file"] !== undefined;
    const given = isGiven ? { input: await readArguments(input, terminal) } : {};
    await using arsenal = await openArsenal(input, terminal, { told: [] });
    const request = { code, ...given, signal: terminal.signal, ...throughToolset(input, arsenal) };
    const result = await runProgram(arsenal, request, input);
    if (input.json) terminal.out.write(`${JSON.stringify(result, undefined, 2)}\n`);
    else show(result, input, terminal);
    return result.status === "success" ? 0 : 1;
  },
};

/** Runs a program. Approves its calls if `--approve` is given. */
export async function runProgram(arsenal: ToolArsenal, request: CodeRequest, { flags }: Input): Promise<CodeResult> {
  let result = await arsenal.runCode(request);
  while (result.status === "pending_confirmation" && flags.has("approve")) {
    await arsenal.approvals.approve(result.confirmationId ?? "", localOperator());
    result = await arsenal.runCode(request);
  }
  return result;
}

export async function readProgram(file: string, terminal: Terminal): Promise<string> {
  if (file === "-") return readText(terminal.protocol?.input ?? process.stdin);
  const unread = (): never => {
    throw wrongInput("FILE", file, `Cannot read ${file}.`, "Check the path, or write - for standard input.");
  };
  return readFile(resolve(terminal.folder, file), "utf8").catch(unread);
}

export function show(result: CodeResult, { config }: Input, { out, err }: Terminal): void {
  const { status, value, logs, calls, truncated, error, confirmationId } = result;
  for (const line of logs) err.write(`${harmless(line)}\n`);
  for (const call of calls) err.write(`  ${call.tool}  ${call.status}  ${call.durationMs.toFixed(1)} ms\n`);
  if (status === "success") {
    const text = typeof value === "string" ? value : JSON.stringify(value ?? null, undefined, 2);
    // A pipe gets the value unchanged. A terminal must not interpret control characters in the value.
    out.write(`${out.isTTY ? harmless(text) : text}\n`);
    if (truncated !== undefined) err.write(`${truncated}\n`);
    return;
  }
  if (status !== "pending_confirmation") {
    const place = error?.line === undefined ? "" : `line ${error.line}: `;
    err.write(`${place}${harmless(error?.message ?? status)}\n`);
    return;
  }
  const from = config === undefined ? "" : ` --config ${config}`;
  err.write(
    `The program waits for approval.\n  Approve it:   ${PROGRAM} approvals approve ${confirmationId}${from}\n  Then run this command again: it goes on from there. To do both at once, run it again with --approve.\n`,
  );
}
