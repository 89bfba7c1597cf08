import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import type { Tool } from "../tool/tool.ts";
import type { ResultError } from "./result.ts";
import { toResultError } from "./to-result-error.ts";
import type { Check, Problem, Validator } from "./validator.port.ts";

/** Arguments with defaults filled in, or why they are refused. */
export type CheckedArguments =
  | { readonly valid: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly valid: false; readonly error: ResultError };

/** Checks arguments against a tool's parameters, compiling each tool once. */
export interface ArgumentChecks {
  check(tool: Tool, args: Readonly<Record<string, unknown>>): CheckedArguments;
  forget(toolId: string): void;
}

/** Compiled checks kept; beyond it the one used least recently goes. */
const MAX_CHECKS = 5_000;

/** Problems named in the message; the result's `issues` have more. */
const PROBLEMS_IN_MESSAGE = 5;
const PROBLEMS_IN_ISSUES = 50;

type Compiled = { readonly contentHash: string } & ({ readonly check: Check } | { readonly broken: ResultError });

/** Creates the cache of compiled checks. A schema that does not compile is remembered too. */
export function createArgumentChecks(validator: Validator, maxChecks: number = MAX_CHECKS): ArgumentChecks {
  const compiled = new Map<string, Compiled>();

  function compile(tool: Tool): Compiled {
    const { contentHash } = tool;
    try {
      return { contentHash, check: validator.compile(tool.parameters) };
    } catch (error) {
      const named = isArsenalError(error)
        ? error
        : new ArsenalError(
            "TOOL_INVALID",
            `The parameters of ${tool.id} do not compile: ${toResultError(error).message}`,
          );
      return { contentHash, broken: toResultError(named) };
    }
  }

  function compiledFor(tool: Tool): Compiled {
    const known = compiled.get(tool.id);
    const entry = known?.contentHash === tool.contentHash ? known : compile(tool);
    // Taken out and put back, the entry becomes the most recently used.
    compiled.delete(tool.id);
    compiled.set(tool.id, entry);
    if (compiled.size > maxChecks) {
      const [oldest] = compiled.keys();
      if (oldest !== undefined) compiled.delete(oldest);
    }
    return entry;
  }

  return {
    check(tool, args) {
      const entry = compiledFor(tool);
      if ("broken" in entry) return { valid: false, error: entry.broken };
      const checked = entry.check(args);
      return checked.valid
        ? { valid: true, arguments: checked.value as Readonly<Record<string, unknown>> }
        : { valid: false, error: argumentsInvalid(tool, checked.problems) };
    },
    forget: (toolId) => void compiled.delete(toolId),
  };
}

function argumentsInvalid(tool: Tool, problems: readonly Problem[]): ResultError {
  const shown = problems.slice(0, PROBLEMS_IN_MESSAGE).map(describe);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`);
  const issues = problems.slice(0, PROBLEMS_IN_ISSUES).map((problem) => ({
    field: problem.field,
    message: problem.message,
    fix: `Give ${problem.expected}.`,
  }));
  return {
    code: "ARGUMENTS_INVALID",
    message: `The arguments do not match the parameters of ${tool.id}: ${shown.join("; ")}.`,
    field: problems[0]?.field ?? "",
    fix: "Call again with arguments that match the tool's parameters.",
    issues,
  };
}

function describe({ field, expected, received }: Problem): string {
  return `${field === "" ? "the arguments" : field}: expected ${expected}, received ${received}`;
}
