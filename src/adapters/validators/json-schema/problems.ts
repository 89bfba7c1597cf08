import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { Problem } from "../../../execute/validator.port.ts";

/** The position of a check in a value. Formatted only on a failure. */
export interface ValuePosition {
  readonly around: ValuePosition | undefined;
  readonly member: string | number;
}

/** A value that violates a keyword. */
export interface Failure {
  readonly place: ValuePosition | undefined;
  readonly value: unknown;
  /** Returns the schema's requirement in words. */
  readonly expected: () => string;
  /** Omitted if the value is present and known, but wrong. */
  readonly member?: "missing" | "unknown";
}

/** The most names and values in one message. A schema may have thousands. */
const MAX_LISTED = 50;

/** Converts failures to problems. Identical problems of several branches are reported once. */
export function toProblems(failures: readonly Failure[]): readonly Problem[] {
  const problems = failures.map(toProblem);
  return [...new Map(problems.map((problem) => [`${problem.field}\n${problem.expected}`, problem])).values()];
}

function toProblem({ place, value, expected: wanted, member }: Failure): Problem {
  const field = fieldOf(place);
  const expected = wanted();
  if (member === "missing") {
    const message = `${field} is missing; it must be ${expected}.`;
    return { field, message, expected, received: "nothing" };
  }
  const received = inWords(value);
  if (member === "unknown") {
    const message = `${field} is not a known name; ${expected}.`;
    return { field, message, expected: `nothing (${expected})`, received };
  }
  const message = `${field === "" ? "The value" : field} must be ${expected}, but is ${received}.`;
  return { field, message, expected, received };
}

function fieldOf(place: ValuePosition | undefined): string {
  const members: (string | number)[] = [];
  for (let at = place; at; at = at.around) members.unshift(at.member);
  return members.join(".");
}

const FIX = "Fix the schema in the tool's source.";

/** The error of a schema with an invalid keyword. */
export function brokenSchema(path: string, what: string, value: unknown): ArsenalError {
  const field = path === "" ? "parameters" : `parameters.${path}`;
  const shown = show(value);
  const problem = `The schema of the parameters is invalid: ${field} ${what}, but is ${shown}.`;
  return fixable("TOOL_INVALID", problem, FIX, { field, value: shown });
}

/** The error of a well-formed schema that cannot be used. */
export function unusableSchema(why: string, cause?: unknown): ArsenalError {
  return fixable("TOOL_INVALID", `Cannot use the schema of the parameters: ${why}.`, FIX, {
    field: "parameters",
    cause,
  });
}

/** Returns a list such as `"a", "b" and 48 more`. */
export function listed<Item>(items: readonly Item[], write: (item: Item) => string): string {
  const shown = items.slice(0, MAX_LISTED).map(write).join(", ");
  return items.length > MAX_LISTED ? `${shown} and ${items.length - MAX_LISTED} more` : shown;
}

function inWords(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return `an object ${show(value)}`;
  return `${typeof value} ${show(value)}`;
}

/** The most nested values to format. Sixty characters have no room for more. */
const MAX_SHOWN = 40;

/** Returns the start of a value as JSON. A huge value takes no longer than a small one. */
export function show(value: unknown): string {
  let left = MAX_SHOWN;
  const start = (part: unknown): unknown => {
    if (typeof part === "string") return part.slice(0, 100);
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.slice(0, MAX_SHOWN).map((member) => (left-- > 0 ? start(member) : null));
    const shown: [string, unknown][] = [];
    for (const key in part) {
      if (left-- <= 0) break;
      if (Object.hasOwn(part, key)) shown.push([key.slice(0, 100), start((part as Record<string, unknown>)[key])]);
    }
    return Object.fromEntries(shown);
  };
  return showValue(start(value));
}
