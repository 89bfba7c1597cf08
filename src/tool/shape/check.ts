import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import { isPlainObject, type JsonSchema } from "../json-schema.ts";
import { countCharacters } from "../limits.ts";
import { HINTS, type Hints, type Shape } from "./shape.ts";

/** Reports one problem: the path of the field with dots, its value, the problem and the fix. */
export type Report = (field: string, value: unknown, message: string, fix: string) => void;

/** Checks a user's value. */
export type Check = (value: unknown, field: string, report: Report) => void;

/** Returns a report that throws the first problem: `The query's limit must be …`. */
export function throwFor(subject: string, code: ErrorCode): Report {
  return (field, value, problem, fix) => {
    const part = field === "" ? `The ${subject}` : `The ${subject}'s ${field}`;
    const held = value === undefined || value === "" ? "" : ` (it is ${showValue(value)})`;
    throw new ArsenalError(code, `${part} ${problem}${held}. ${fix}`, {
      ...(field === "" ? {} : { field }),
      value,
      fix,
    });
  };
}

type Wording = readonly [message: string, fix: string];

/** The messages about invalid values. Schemas with their own messages for a member have them as hints. */
export interface Words {
  flag(field: string): Wording;
  /** A text that may be empty. */
  string(field: string): Wording;
  /** A text that may not be blank. */
  text(field: string): Wording;
  /** `kind` describes the valid numbers: `whole number from 1 to 50`. */
  number(field: string, kind: string): Wording;
  choice(value: unknown, known: readonly string[]): Wording;
  list(field: string): Wording;
  /** An object with unknown members. */
  anything(field: string): Wording;
  object(field: string, known: readonly string[]): Wording;
  missing(field: string): Wording;
  unknown(key: string, known: readonly string[]): Wording;
  /** The third element is the value to report. */
  tooLong(value: string, max: number): readonly [...Wording, shown: unknown];
  tooMany(count: number, max: number, items: string): Wording;
}

export const WORDS: Words = {
  flag: () => ["must be true or false", "Use true or false, without quotes."],
  string: (field) => ["must be a string", `Give it a string, or leave ${field} out.`],
  text: () => ["must be a nonempty string", "Write at least one character that is not a space."],
  number: (field, kind) => [`must be a ${kind}`, `Use a ${kind}, or leave ${field} out.`],
  choice(value, known) {
    const near = typeof value === "string" ? nearest(value, known) : undefined;
    const fix = near === undefined ? `Use "${known[0]}", for example.` : `Did you mean "${near}"?`;
    return [`must be one of ${known.join(", ")}`, fix];
  },
  list: () => ["must be a list", "Wrap the value in [ ]."],
  anything: (field) => ["must be an object", `Write ${field}: {}, or leave it out.`],
  object: (_field, known) => ["must be an object", `Its fields are ${known.join(", ")}.`],
  missing: (field) => ["is missing", `Add ${field}; it has no default.`],
  unknown(key, known) {
    const near = nearest(key.replaceAll("_", ""), known);
    const fix = near === undefined ? `The known fields are ${known.join(", ")}.` : `Did you mean ${near}?`;
    return ["is not a known field", fix];
  },
  tooLong: (value, max) => [`has ${countCharacters(value)} characters, more than ${max}`, "Shorten it.", value],
  tooMany: (count, max, items) => [`has ${count} ${items}, more than ${max}`, `Keep the best ${max}.`],
};

/** Compiles a schema into a check that reports every problem, in the order of the schema. */
export function checkOf(shape: Shape, words: Words = WORDS): Check {
  const { type, enum: values, properties, maxLength = Infinity, maxItems = Infinity } = shape;
  const hints = shape[HINTS] ?? {};
  if (hints.check !== undefined) return hints.check;
  const by = (fits: (value: unknown) => boolean, wordsFor: (value: unknown, field: string) => Wording): Check => {
    return (value, field, report) => {
      if (!fits(value)) refuse(value, field, report, hints, wordsFor(value, field));
    };
  };
  if (hints.fits !== undefined) return by(hints.fits, () => ["is invalid", "Leave it out."]);
  if (values !== undefined) {
    const known = values as readonly string[];
    return by(
      (value) => known.includes(value as string),
      (value) => words.choice(value, known),
    );
  }
  switch (type) {
    case "boolean":
      return by(
        (value) => typeof value === "boolean",
        (_value, field) => words.flag(field),
      );
    case "string":
      return checkText(shape, Number(maxLength), hints, words);
    case "integer":
    case "number":
      return checkNumber(shape, by, words);
    case "array":
      return checkList(checkOf((shape.items ?? {}) as Shape, words), Number(maxItems), hints, words);
    case "object":
      return properties === undefined
        ? by(isPlainObject, (_value, field) => words.anything(field))
        : checkMembers(shape, hints, words);
    default:
      return () => {};
  }
}

function refuse(value: unknown, field: string, report: Report, { problem, fix }: Hints, usual: Wording): void {
  report(field, value, problem ?? usual[0], fix ?? usual[1]);
}

function checkText({ minLength }: JsonSchema, max: number, hints: Hints, words: Words): Check {
  return (value, field, report) => {
    if (typeof value !== "string" || (minLength !== undefined && value.trim() === ""))
      refuse(value, field, report, hints, minLength === undefined ? words.string(field) : words.text(field));
    else if (value.length > max && countCharacters(value) > max) {
      const [message, fix, shown] = words.tooLong(value, max);
      report(field, shown, message, hints.shorten ?? fix);
    }
  };
}

type CheckBy = (fits: (value: unknown) => boolean, wordsFor: (value: unknown, field: string) => Wording) => Check;

function checkNumber({ type, minimum, maximum }: JsonSchema, by: CheckBy, words: Words): Check {
  const [low, high] = [Number(minimum ?? -Infinity), Number(maximum ?? Infinity)];
  const bounds = minimum === undefined ? "" : maximum === undefined ? `, ${low} or more` : ` from ${low} to ${high}`;
  const kind = `${type === "integer" ? "whole " : ""}number${bounds}`;
  const isNumber = type === "integer" ? Number.isInteger : Number.isFinite;
  return by(
    (value) => isNumber(value) && Number(value) >= low && Number(value) <= high,
    (_value, field) => words.number(field, kind),
  );
}

function checkList(check: Check, max: number, hints: Hints, words: Words): Check {
  return (value, field, report) => {
    if (!Array.isArray(value)) return refuse(value, field, report, hints, words.list(field));
    if (value.length > max) {
      const [message, fix] = words.tooMany(value.length, max, hints.items ?? "entries");
      report(field, value, message, hints.shorten ?? fix);
    }
    for (let index = 0; index < value.length; index++) check(value[index], `${field}.${index}`, report);
  };
}

/** Reads members one by one, so that inherited members and getters are also checked. */
function checkMembers(shape: JsonSchema, hints: Hints, words: Words): Check {
  const { properties = {}, required = [], additionalProperties } = shape;
  const { elsewhere = {} } = hints;
  const known = Object.keys(properties);
  const checks = Object.values(properties).map((member) => checkOf(member as Shape, words));
  const missing = Object.entries(properties).map(([key, member], index): Check | undefined => {
    if (!required.includes(key)) return undefined;
    // A member's own message also covers a missing value.
    if ((member as Shape)[HINTS]?.problem !== undefined) return checks[index];
    return (value, field, report) => report(field, value, ...words.missing(field));
  });
  return (value, at, report) => {
    if (!isPlainObject(value)) return refuse(value, at, report, hints, words.object(at, known));
    const start = at === "" ? "" : `${at}.`;
    for (let index = 0; index < known.length; index++) {
      const key = known[index] as string;
      const member = value[key];
      const check = member === undefined ? missing[index] : checks[index];
      if (check !== undefined) check(member, start + key, report);
    }
    if (additionalProperties !== false) return;
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(properties, key)) continue;
      const [message, fix] = words.unknown(key, known);
      report(start + key, value[key], message, Object.hasOwn(elsewhere, key) ? (elsewhere[key] ?? fix) : fix);
    }
  };
}

/** Returns true for a complete principal. A principal with missing members could be mistaken for another caller. */
export function isPrincipal(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { id, roles, capabilities, scopes } = value;
  return typeof id === "string" && Array.isArray(roles) && Array.isArray(capabilities) && Array.isArray(scopes);
}

/** Returns true for an `AbortSignal` of any realm. */
export function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { readonly aborted?: unknown }).aborted === "boolean" &&
    typeof (value as { readonly addEventListener?: unknown }).addEventListener === "function"
  );
}
