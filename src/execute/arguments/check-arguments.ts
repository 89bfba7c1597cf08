import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { refusalOf } from "../../tool/schema/schema-limits.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ResultError } from "../result.ts";
import { toResultError } from "../results/to-result-error.ts";
import type { Check, Checked, Problem, Validator } from "../validator.port.ts";
import { setNewest } from "../../base/remember.ts";
import { fixOf } from "./fix-of.ts";

export type CheckedArguments =
  | { readonly valid: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly valid: false; readonly error: ResultError };

/** Checks arguments against a tool's parameters, compiling each tool once. */
export type ArgumentChecks = ReturnType<typeof createArgumentChecks>;

/** The number of cached checks. The least recently used one is dropped. */
const MAX_CHECKS = 5_000;

/** The number of problems in the message and in the result's `issues`. */
const PROBLEMS_IN_MESSAGE = 5;
const PROBLEMS_IN_ISSUES = 50;

type Compiled = { readonly check: Check } | { readonly broken: ResultError };

interface Entry {
  readonly contentHash: string;
  /** Resolved promises are replaced by their value, so that later calls are synchronous. */
  compiled: Compiled | Promise<Compiled>;
}

/** Creates the cache of compiled checks. It also remembers schemas that do not compile. */
export function createArgumentChecks(validator: Validator, maxChecks: number = MAX_CHECKS) {
  const entries = new Map<string, Entry>();
  /** The id of the newest entry, which need not be moved. */
  let newest: string | undefined;

  function compile(tool: Tool): Compiled | Promise<Compiled> {
    const broken = (error: unknown): Compiled => ({ broken: toolInvalid(tool, error) });
    try {
      const reason = refusalOf(tool.parameters);
      if (reason !== undefined) {
        const problem = `The schema of the parameters of ${tool.id} ${reason} and was rejected.`;
        const fix = "Make the schema smaller in the tool's source.";
        return broken(fixable("TOOL_INVALID", problem, fix, { field: "parameters" }));
      }
      // The program itself registers these tools; all other schemas are untrusted.
      const trusted = tool.source === "function" || tool.source === "builtin";
      const check = validator.compile(tool.parameters, { trusted });
      return check instanceof Promise ? check.then((ready) => ({ check: ready }), broken) : { check };
    } catch (error) {
      return broken(error);
    }
  }

  function entryFor(tool: Tool): Entry {
    const { contentHash } = tool;
    const known = entries.get(tool.id);
    if (known?.contentHash === contentHash && newest === tool.id) return known;
    newest = tool.id;
    const entry = known?.contentHash === contentHash ? known : { contentHash, compiled: compile(tool) };
    return setNewest(entries, tool.id, entry, maxChecks);
  }

  return {
    /** Synchronous for most tools. Returns a promise if another thread checks a very large schema or very large arguments. */
    check(tool: Tool, args: Readonly<Record<string, unknown>>): CheckedArguments | Promise<CheckedArguments> {
      const entry = entryFor(tool);
      if (!(entry.compiled instanceof Promise)) return apply(entry.compiled, tool, args);
      return entry.compiled.then((compiled) => {
        entry.compiled = compiled;
        return apply(compiled, tool, args);
      });
    },
    forget: (toolId: string): void => void entries.delete(toolId),
  };
}

function apply(
  compiled: Compiled,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): CheckedArguments | Promise<CheckedArguments> {
  if ("broken" in compiled) return { valid: false, error: compiled.broken };
  const toArguments = (checked: Checked): CheckedArguments =>
    checked.valid
      ? { valid: true, arguments: checked.value as Readonly<Record<string, unknown>> }
      : { valid: false, error: argumentsInvalid(tool, checked.problems) };
  const failed = (error: unknown): CheckedArguments => ({ valid: false, error: toolInvalid(tool, error) });
  try {
    const checked = compiled.check(args);
    return checked instanceof Promise ? checked.then(toArguments, failed) : toArguments(checked);
  } catch (error) {
    return failed(error);
  }
}

function toolInvalid(tool: Tool, error: unknown): ResultError {
  if (isArsenalError(error)) return toResultError(error);
  const message = `The parameters of ${tool.id} cannot be checked: ${toResultError(error).message}`;
  return toResultError(new ArsenalError("TOOL_INVALID", message));
}

function argumentsInvalid(tool: Tool, problems: readonly Problem[]): ResultError {
  const shown = problems
    .slice(0, PROBLEMS_IN_MESSAGE)
    .map(({ field, expected, received }) => `${field || "the arguments"}: expected ${expected}, received ${received}`);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`);
  const issues = problems.slice(0, PROBLEMS_IN_ISSUES).map((problem) => ({
    field: problem.field,
    message: problem.message,
    fix: fixOf(problem, Object.keys(tool.parameters.properties ?? {})),
  }));
  return {
    code: "ARGUMENTS_INVALID",
    message: `The arguments do not match the parameters of ${tool.id}: ${shown.join("; ")}.`,
    field: problems[0]?.field ?? "",
    fix: "Call again with arguments that match the tool's parameters.",
    issues,
  };
}
