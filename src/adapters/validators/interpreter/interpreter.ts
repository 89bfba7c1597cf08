import type { Check, ImmediateValidator, Problem } from "../../../execute/validator.port.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { measureSchema } from "../../../tool/schema-limits.ts";
import { copyValue } from "./copy-value.ts";
import { createEvaluator } from "./evaluate.ts";
import { refuseExpansion } from "./expansion.ts";
import { type Patterns, type SafePattern, safePattern } from "./patterns.ts";
import { toProblems, unusableSchema } from "./problems.ts";
import { readSchemas } from "./references.ts";
import { type Run, TooCostly } from "./run.ts";

export interface InterpreterOptions {
  /** Steps one check may take, each of them a schema held against a value. Default 2,000,000, about a tenth of a second. */
  readonly maxSteps?: number;
}

/**
 * Checks arguments against schemas that may be hostile: it makes no program of them, follows no address out of them, runs their patterns in
 * linear time, and gives up on what takes too long.
 */
export function interpreter({ maxSteps = 2_000_000 }: InterpreterOptions = {}): ImmediateValidator {
  return {
    compile(schema) {
      const check = interpret(schema);
      const bounded = (value: unknown): ReturnType<Check> => {
        try {
          return check(value, maxSteps);
        } catch (error) {
          if (error instanceof TooCostly) return { valid: false, problems: [tooCostly(maxSteps)] };
          throw error;
        }
      };
      return Object.assign(bounded, { notes: check.notes });
    },
  };
}

/** A check that throws `TooCostly` where it needs more steps than it is given. */
export interface CountedCheck {
  (value: unknown, maxSteps: number): ReturnType<Check>;
  readonly notes: readonly string[];
}

/** Reads a schema and returns what checks values against it. Throws TOOL_INVALID where the schema is malformed, or too much in any way. */
export function interpret(schema: JsonSchema): CountedCheck {
  const { tooLarge } = measureSchema(schema);
  if (tooLarge !== undefined) throw unusableSchema(`it ${tooLarge}`);
  const read = readSchemas(schema);
  refuseExpansion(read);
  const { patterns, notes: patternNotes } = readPatterns(read.schemas.keys());
  const hasDefaults = [...read.schemas.keys()].some((each) => Object.hasOwn(each, "default"));
  const holds = createEvaluator(read, patterns);
  const check = (value: unknown, maxSteps: number): ReturnType<Check> => {
    const run: Run = { failures: [], quiet: 0, tentative: 0, depth: 0, steps: 0, maxSteps };
    const checked = hasDefaults ? copyValue(value) : value;
    if (holds(schema, checked, undefined, run, undefined)) return { valid: true, value: checked };
    return { valid: false, problems: toProblems(run.failures) };
  };
  return Object.assign(check, { notes: [...read.notes, ...patternNotes] });
}

/** The patterns of all schemas, each read once. */
function readPatterns(schemas: Iterable<JsonSchema>): {
  readonly patterns: Patterns;
  readonly notes: readonly string[];
} {
  const patterns = new Map<string, SafePattern>();
  for (const { pattern, patternProperties } of schemas) {
    const sources = [...(typeof pattern === "string" ? [pattern] : []), ...Object.keys(patternProperties ?? {})];
    for (const source of sources) if (!patterns.has(source)) patterns.set(source, safePattern(source));
  }
  return { patterns, notes: [...patterns.values()].flatMap(({ note }) => note ?? []) };
}

/** What is said of arguments that were not checked to their end. */
export function tooCostly(maxSteps: number): Problem {
  const expected = "arguments that can be checked in time";
  const received = `some that take more than ${maxSteps.toLocaleString("en")} steps to check`;
  return { field: "", message: `The value must be ${expected}, but is ${received}.`, expected, received };
}
