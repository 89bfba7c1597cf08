import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { CommandJob, Sandbox, SandboxLimits, SandboxOutcome } from "../../../execute/sandbox.port.ts";
import type { Handler } from "../../../tool/handler.ts";
import { readForeign } from "../../sandboxes/subprocess/run-process.ts";
import type { Declaration, Language } from "./declaration.ts";
import { BASH_RUNNER, NODE_RUNNER, PYTHON_RUNNER } from "./runners.ts";

export interface RunParts {
  readonly sandbox: Sandbox;
  /** The interpreter for each language. */
  readonly programs: Readonly<Record<Language, string>>;
  /** Returns the environment variables of the tools, with secrets resolved. */
  readonly environment: (signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
  /** Defaults to the file's folder. */
  readonly cwd: string | undefined;
  readonly limits: SandboxLimits;
}

/** The most characters of stderr that the error of a failed call shows. */
const STDERR_TAIL = 2_000;

/** Creates a handler that runs a declared function in its own process. Arguments and result are JSON. */
export function createHandler(declaration: Declaration, parts: RunParts): Handler {
  const { file } = declaration;
  return async (args, { signal, tool }) => {
    const mark = `\n${randomUUID()} `;
    const outcome = await parts.sandbox.run({
      kind: "command",
      ...toCommand(declaration, args, { mark, programs: parts.programs }),
      env: await parts.environment(signal),
      // The sandbox uses the first folder as the working directory.
      write: [parts.cwd ?? dirname(file)],
      network: true,
      limits: parts.limits,
      signal,
    });
    return toResult(outcome, { id: tool.id, mark: declaration.language === "bash" ? undefined : mark });
  };
}

function toCommand(
  { file, entry, fields, takesObject, language }: Declaration,
  args: Record<string, unknown>,
  { mark, programs }: { readonly mark: string; readonly programs: RunParts["programs"] },
): Pick<CommandJob, "argv" | "input"> {
  const program = programs[language];
  switch (language) {
    case "node": {
      const names = takesObject === true ? undefined : fields.map(({ name }) => name);
      const input = JSON.stringify({ mark, url: pathToFileURL(file).href, entry, names, args });
      return { argv: [program, ...NODE_OPTIONS, "--eval", NODE_RUNNER], input };
    }
    case "python":
      return { argv: [program, "-B", "-c", PYTHON_RUNNER], input: JSON.stringify({ mark, file, entry, args }) };
    case "bash":
      // Bash reads the user's settings if its input is a socket, which Node's pipes are.
      return { argv: [program, "--norc", "-c", BASH_RUNNER, file, entry], input: toAssignments(args) };
  }
}

/** Older versions of Node print a warning when they run TypeScript directly. */
const NODE_OPTIONS = ["--input-type=module", "--disable-warning=ExperimentalWarning"];

/** Returns names and values for bash, each terminated by a NUL. `+` appends to an array. False becomes an unset variable. */
function toAssignments(args: Record<string, unknown>): string {
  return Object.entries(args)
    .flatMap(([name, value]) => {
      if (Array.isArray(value)) return value.flatMap((item) => [`+${name}`, toText(name, item)]);
      if (value === false || value === null || value === undefined) return [];
      return [name, toText(name, value)];
    })
    .map((text) => `${text}\0`)
    .join("");
}

function toText(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : value === true ? "1" : JSON.stringify(value);
  if (!text.includes("\0")) return text;
  const problem = `The argument ${name} has a NUL character, which no bash variable can hold.`;
  throw fixable("EXECUTION_FAILED", problem, "Call it without that character.", { field: name, answered: true });
}

function toResult(
  { status, stdout, stderr, reason = "" }: SandboxOutcome,
  { id, mark }: { readonly id: string; readonly mark: string | undefined },
): unknown {
  const printed = stderr.trim() === "" ? "" : `\n${stderr.trim().slice(-STDERR_TAIL)}`;
  switch (status) {
    case "ok":
      break;
    case "failed":
      throw new ArsenalError("EXECUTION_FAILED", `${id} failed. ${reason}${printed}`, { answered: true });
    case "timeout":
      throw new ArsenalError("TIMEOUT", `${id} was stopped. ${reason}${printed}`);
    case "killed":
      throw new ArsenalError("SANDBOX_FAILED", `${id} was stopped. ${reason}${printed}`);
  }
  if (mark === undefined) return jsonOrText(stdout.replace(/\n$/, ""));
  const at = stdout.lastIndexOf(mark);
  if (at >= 0) return readForeign(stdout.slice(at + mark.length));
  throw new ArsenalError("EXECUTION_FAILED", `${id} ended the process without a result.${printed}`, { answered: true });
}

/** Parses the output of a program as JSON. Returns the text if it is not JSON. */
function jsonOrText(text: string): unknown {
  try {
    return readForeign(text);
  } catch {
    return text;
  }
}
