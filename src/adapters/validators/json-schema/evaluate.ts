import { isPlainObject } from "../../../tool/json-schema.ts";
import { arrayRules, objectRules } from "./member-rules.ts";
import type { Pattern, Patterns } from "./patterns.ts";
import type { Failure, ValuePosition } from "./problems.ts";
import type { ReadSchema } from "./read-schema.ts";
import { valueRules } from "./value-rules.ts";

export type SchemaObject = Readonly<Record<string, unknown>>;

export interface CheckLimits {
  /** Each schema that is applied to a value is a step. 50,000 steps take about ten milliseconds. */
  readonly maxSteps: number;
  /** Whether patterns that need JavaScript's own engine may run, without a time limit. */
  readonly mayBacktrack: boolean;
}

export interface Run extends CheckLimits {
  readonly failures: Failure[];
  /** Above 0 while failures are ignored: within `not` and `if`. */
  quiet: number;
  /** Above 0 in a branch that may not be the matching one. No defaults are applied there. */
  tentative: number;
  depth: number;
  steps: number;
}

/** Members of one value that a schema has already evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Evaluated = Set<string | number>;

/** Checks one keyword of a schema, and adds the members that the keyword evaluates. */
export type Rule<Value = unknown> = (
  value: Value,
  place: ValuePosition | undefined,
  run: Run,
  evaluated: Evaluated | undefined,
) => boolean;

/** Applies a schema to a value. */
export type Holds = (schema: unknown, ...given: Parameters<Rule>) => boolean;

/** Thrown if checking a value exceeds its limits. */
export class TooCostly extends Error {}

const MAX_FAILURES = 200;

/** The nesting limit of schemas. Each level needs three calls, and the stack has room for about ten thousand. */
const MAX_DEPTH = 1_500;

/** Counts work, and stops the check at the limit. */
export function spend(run: Run, steps: number): void {
  run.steps += steps;
  if (run.steps > run.maxSteps || run.depth > MAX_DEPTH) throw new TooCostly("checking it takes too long");
}

/** Records a failure. Always returns false. */
export function fail(run: Run, failure: Failure): false {
  if (run.quiet === 0 && run.failures.length < MAX_FAILURES) run.failures.push(failure);
  return false;
}

export function matches(pattern: Pattern | undefined, text: string, run: Run): boolean {
  if (!pattern) return true;
  if (pattern.backtracks && !run.mayBacktrack) throw new TooCostly("RE2 cannot run its pattern");
  spend(run, ((text.length + 16) * pattern.size) / 16);
  return pattern.test(text);
}

/** Creates the evaluator. Compiles the rules of a schema on first use, so the unused parts of a huge schema cost nothing. */
export function createEvaluator(schemas: ReadonlyMap<SchemaObject, ReadSchema>, patterns: Patterns): Holds {
  const known = new Map<SchemaObject, { readonly rules: readonly Rule[]; readonly asks: boolean }>();

  const holds: Holds = (schema, value, place, run, evaluated) => {
    if (schema === true) return true;
    if (!isPlainObject(schema)) return fail(run, { place, value, expected: () => "left out" });
    let read = known.get(schema);
    if (!read) {
      const asks = Object.hasOwn(schema, "unevaluatedProperties") || Object.hasOwn(schema, "unevaluatedItems");
      known.set(schema, (read = { rules: rulesOf(schema), asks }));
    }
    const { rules, asks } = read;
    run.depth++;
    spend(run, 1 + rules.length);
    // A schema ignores members that were evaluated outside it. Its own evaluations count outside only if the whole schema holds.
    const own: Evaluated | undefined = evaluated || asks ? new Set() : undefined;
    let valid = true;
    for (const rule of rules) {
      if (rule(value, place, run, own)) continue;
      valid = false;
      if (run.quiet > 0) break;
    }
    run.depth--;
    if (valid && evaluated && own) for (const member of own) evaluated.add(member);
    return valid;
  };

  /** Checks members last, because defaults are applied then. */
  function rulesOf(schema: SchemaObject): readonly Rule[] {
    const references = schemas.get(schema)?.references ?? [];
    return [
      ...valueRules(schema, patterns),
      ...references.map((target): Rule => holds.bind(undefined, target)),
      ...combinations(schema),
      ...arrayRules(schema, holds),
      ...objectRules(schema, holds, patterns),
    ];
  }

  function combinations(schema: SchemaObject): readonly Rule[] {
    const rules: Rule[] = [];
    const { allOf, anyOf, oneOf } = schema as { readonly [keyword: string]: readonly unknown[] | undefined };

    const quietly: Holds = (part, value, place, run, evaluated) => {
      run.quiet++;
      run.tentative++;
      const valid = holds(part, value, place, run, evaluated);
      run.quiet--;
      run.tentative--;
      return valid;
    };
    const choice = (options: readonly unknown[], isOne: boolean): Rule => {
      const expected = (): string => `a value that matches ${isOne ? "exactly one" : "one"} of the alternatives`;
      return (value, place, run, evaluated) => {
        const before = run.failures.length;
        let count = 0;
        run.tentative++;
        for (const option of options) {
          if (holds(option, value, place, run, evaluated)) count++;
          // Further matches change nothing, unless the evaluated members are needed.
          if (!isOne && count > 0 && !evaluated) break;
        }
        run.tentative--;
        if (count === 0 || (isOne && count > 1)) return fail(run, { place, value, expected });
        run.failures.length = before;
        return true;
      };
    };

    if (Object.hasOwn(schema, "not")) {
      const expected = (): string => "a value that does not match the excluded schema";
      rules.push(
        (value, place, run) =>
          !quietly(schema["not"], value, place, run, undefined) || fail(run, { place, value, expected }),
      );
    }
    if (anyOf) rules.push(choice(anyOf, false));
    if (oneOf) rules.push(choice(oneOf, true));
    if (allOf) {
      rules.push((...given) => {
        let valid = true;
        for (const each of allOf) if (!holds(each, ...given)) valid = false;
        return valid;
      });
    }
    if (Object.hasOwn(schema, "if")) {
      rules.push((...given) => {
        const branch = quietly(schema["if"], ...given) ? "then" : "else";
        return !Object.hasOwn(schema, branch) || holds(schema[branch], ...given);
      });
    }
    return rules;
  }

  return holds;
}
