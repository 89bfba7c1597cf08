import { nativePattern } from "../../../tool/schema/keywords.ts";
import type { Checked, CompileOptions } from "../../../execute/validator.port.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { measureSchema } from "../../../tool/schema/schema-limits.ts";
import { type CheckLimits, createEvaluator, type Run, TooCostly } from "./evaluate.ts";
import { copyValue } from "./member-rules.ts";
import { type Pattern, type Patterns, readPattern } from "./patterns.ts";
import { brokenSchema, toProblems, unusableSchema } from "./problems.ts";
import { readSchemas } from "./read-schema.ts";

/** Checks values against one schema. Throws `TooCostly` if a check exceeds its limits. */
export interface SchemaCheck {
  (value: unknown, limits?: CheckLimits): Checked;
  /** The unchecked parts of the schema, with the reasons. */
  readonly notes: readonly string[];
}

/** For our own schemas and values. */
const NO_LIMITS: CheckLimits = { maxSteps: Infinity, mayBacktrack: true };

/**
 * Parses a schema. Throws TOOL_INVALID if the schema is malformed or too large. Runs no code, fetches nothing and counts every step, so hostile
 * schemas are harmless.
 */
export function compileSchema(schema: JsonSchema, { trusted = false }: CompileOptions = {}): SchemaCheck {
  const { tooLarge } = measureSchema(schema);
  if (tooLarge !== undefined) throw unusableSchema(`it ${tooLarge}`);
  const { schemas, notes } = readSchemas(schema);
  const patterns = readPatterns(schemas.keys(), trusted);
  const hasDefaults = [...schemas.keys()].some((each) => Object.hasOwn(each, "default"));
  const holds = createEvaluator(schemas, patterns);
  const check = (value: unknown, { maxSteps, mayBacktrack }: CheckLimits = NO_LIMITS): Checked => {
    const run: Run = { maxSteps, mayBacktrack, failures: [], quiet: 0, tentative: 0, depth: 0, steps: 0 };
    const checked = hasDefaults ? copyValue(value) : value;
    if (holds(schema, checked, undefined, run, undefined)) return { valid: true, value: checked };
    return { valid: false, problems: toProblems(run.failures) };
  };
  return Object.assign(check, { notes: [...notes, ...[...patterns.values()].flatMap(({ note }) => note ?? [])] });
}

/** Parses each pattern of all schemas once. Patterns in a user's own schema must be valid in JavaScript. */
function readPatterns(schemas: Iterable<JsonSchema>, trusted: boolean): Patterns {
  const patterns = new Map<string, Pattern>();
  for (const { pattern, patternProperties } of schemas) {
    const sources = [...(typeof pattern === "string" ? [pattern] : []), ...Object.keys(patternProperties ?? {})];
    for (const source of sources) {
      if (patterns.has(source)) continue;
      if (trusted && !nativePattern(source)) throw brokenSchema("pattern", "must be a regular expression", source);
      patterns.set(source, readPattern(source));
    }
  }
  return patterns;
}

/** Wraps a check so it refuses costly values. */
export function withinLimits(check: SchemaCheck, limits: CheckLimits): (value: unknown) => Checked {
  return (value) => {
    try {
      return check(value, limits);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      const expected = "arguments that can be checked in time";
      const received = `some that take more than ${limits.maxSteps.toLocaleString("en")} steps to check`;
      const message = `The value must be ${expected}, but is ${received}.`;
      return { valid: false, problems: [{ field: "", message, expected, received }] };
    }
  };
}
