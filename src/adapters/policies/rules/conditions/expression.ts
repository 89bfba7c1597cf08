import { createRequire } from "node:module";
import type * as Cel from "@bufbuild/cel";
import type { RE2JS } from "re2js";
import { createVariables } from "./expression-variables.ts";
import { inspectExpression } from "./inspect-expression.ts";
import { exceeds } from "./measure-arguments.ts";
import type { Facts, When } from "./when.ts";

/** Characters of one expression. */
const MAX_LENGTH = 2_000;

/** Brackets within brackets. */
const MAX_NESTING = 24;

/** An expression that cannot be used, and where in it the fault lies. */
export interface ExpressionProblem {
  readonly message: string;
  /** From 1. Absent where the whole expression is meant. */
  readonly column?: number;
  readonly line?: number;
}

/** Compiles an expression once. What it costs to evaluate is bounded by its length and by what of the arguments it may loop over. */
export function compileExpression(text: string): When | { readonly problem: ExpressionProblem } {
  if (text.length > MAX_LENGTH)
    return { problem: { message: `it has ${text.length} characters, and ${MAX_LENGTH} are the most` } };
  if (nestingOf(text) > MAX_NESTING) return { problem: { message: `it nests brackets deeper than ${MAX_NESTING}` } };
  const { cel, environment, pattern, variablesOf } = (loaded ??= load());
  let parsed: ReturnType<typeof Cel.parse>;
  try {
    parsed = cel.parse(text);
  } catch (error) {
    return { problem: syntaxProblem(error) };
  }
  const inspected = inspectExpression(parsed, {
    knowsFunction: (name) => environment.funcs.find(name) !== undefined,
    patternProblem(source) {
      try {
        pattern(source);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
  });
  if ("problem" in inspected) return { problem: inPlace(inspected.problem.message, text, inspected.problem.offset) };
  const run = cel.plan(environment, parsed);
  const { loops, variables } = inspected;
  return {
    text,
    usesArguments: variables.has("args"),
    usesTime: variables.has("now"),
    evaluate(facts) {
      if (variables.has("args") && exceeds(facts, loops)) return { failed: "the arguments are too large for it" };
      let value: unknown;
      try {
        value = run(variablesOf(facts));
      } catch (error) {
        return { failed: messageOf(error) };
      }
      if (typeof value === "boolean") return value;
      return { failed: cel.isCelError(value) ? messageOf(value) : "it is neither true nor false" };
    },
  };
}

interface Loaded {
  readonly cel: typeof Cel;
  readonly environment: Cel.CelEnv;
  readonly pattern: (source: string) => RE2JS;
  readonly variablesOf: (facts: Facts) => Record<string, Cel.CelInput>;
}

/** With the first expression: a document without one does not need the library. */
let loaded: Loaded | undefined;

function load(): Loaded {
  const require = createRequire(import.meta.url);
  const cel = require("@bufbuild/cel") as typeof Cel;
  const { RE2JS: Re2 } = require("re2js") as { readonly RE2JS: typeof RE2JS };
  // Patterns are literals of the documents, so there are few, and each is compiled once.
  const patterns = new Map<string, RE2JS>();
  const pattern = (source: string): RE2JS => {
    let known = patterns.get(source);
    if (known === undefined) patterns.set(source, (known = Re2.compile(source)));
    return known;
  };
  const environment = cel.celEnv({ re2: { compile: pattern }, funcs: [strictDouble(cel)] });
  const toTimestamp = cel.plan(environment, cel.parse("timestamp(text)"));
  const timestamp = (ms: number): Cel.CelInput => {
    const value = toTimestamp({ text: new Date(ms).toISOString() });
    if (cel.isCelError(value)) throw value;
    return value;
  };
  return { cel, environment, pattern, variablesOf: createVariables(cel, timestamp) };
}

/** The library makes NaN of a text that is no number, and a comparison with NaN is false: a refusal would not hold. */
function strictDouble({ celFunc, CelScalar }: typeof Cel): Cel.CelFunc {
  return celFunc("double", [CelScalar.STRING], CelScalar.DOUBLE, (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw new Error("double: the text is no number");
    return value;
  });
}

/** Counted before parsing, which is recursive. Brackets in texts count as well: it is a bound, not a measure. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if ("([{".includes(character)) deepest = Math.max(deepest, ++depth);
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
  }
  return deepest;
}

function syntaxProblem(error: unknown): ExpressionProblem {
  const message = messageOf(error).replace(/^<input>:\d+:\d+: /, "");
  const { start } =
    (error as { readonly location?: { readonly start?: { line: number; column: number } } }).location ?? {};
  // The library goes on to list everything it would have taken.
  const [, found] = /^found (.*?) but expecting/s.exec(message) ?? [];
  const said = found === undefined ? message : `unexpected ${found}`;
  return { message: said, ...(start && { column: start.column, line: start.line }) };
}

function inPlace(message: string, text: string, offset: number | undefined): ExpressionProblem {
  if (offset === undefined) return { message };
  const before = text.slice(0, offset).split("\n");
  return { message, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.length <= 200 ? message : `${message.slice(0, 199)}…`;
}
