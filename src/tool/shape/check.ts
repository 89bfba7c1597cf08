import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../json-schema.ts";
import { countCharacters } from "../limits.ts";

/** Reports one problem: the dotted path of the field, its value, the problem and the fix. */
export type Report = (field: string, value: unknown, message: string, fix: string) => void;

/** Checks a user's value. */
export type Check = (value: unknown, field: string, report: Report) => void;

/** A report that throws the first problem: `The query's limit must be …`. */
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

export const flag: Check = (value, field, report) => {
  if (typeof value !== "boolean") report(field, value, "must be true or false", "Use true or false, without quotes.");
};

export const string: Check = (value, field, report) => {
  if (typeof value !== "string") report(field, value, "must be a string", `Give it a string, or leave ${field} out.`);
};

export const object: Check = (value, field, report) => {
  if (!isPlainObject(value)) report(field, value, "must be an object", `Write ${field}: {}, or leave it out.`);
};

/** A non-blank text of at most `max` characters. */
export function text(max = Infinity): Check {
  return (value, field, report) => {
    if (typeof value !== "string" || value.trim() === "") {
      report(field, value, "must be a nonempty string", "Write at least one character that is not a space.");
    } else if (value.length > max && countCharacters(value) > max) {
      report(field, value, `has ${countCharacters(value)} characters, more than ${max}`, "Shorten it.");
    }
  };
}

/** A number within inclusive bounds. */
export function number(min: number, max: number): Check {
  const bounds = max === Infinity ? `, ${min} or more` : ` from ${min} to ${max}`;
  return (value, field, report) => {
    if (typeof value === "number" && Number.isFinite(value) && value >= min && value <= max) return;
    report(field, value, `must be a number${bounds}`, `Use a number${bounds}, or leave ${field} out.`);
  };
}

export function oneOf(known: readonly string[]): Check {
  return (value, field, report) => {
    if (typeof value === "string" && known.includes(value)) return;
    const near = typeof value === "string" ? nearest(value, known) : undefined;
    const fix = near === undefined ? `Use "${known[0]}", for example.` : `Did you mean "${near}"?`;
    report(field, value, `must be one of ${known.join(", ")}`, fix);
  };
}

export function listOf(check: Check, max = Infinity): Check {
  return (value, field, report) => {
    if (!Array.isArray(value)) return report(field, value, "must be a list", "Wrap the value in [ ].");
    if (value.length > max)
      report(field, value, `has ${value.length} entries, more than ${max}`, `Keep the best ${max}.`);
    for (const [index, entry] of value.entries()) check(entry, `${field}.${index}`, report);
  };
}

interface FieldsOptions {
  readonly required?: readonly string[];
  /** An example to show if the value is not an object. Defaults to the names of the fields. */
  readonly example?: string;
  /** Hints for fields of other formats. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/** An object with these fields and no others. */
export function fields(
  checks: Readonly<Record<string, Check>>,
  { required = [], elsewhere = {}, example }: FieldsOptions = {},
): Check {
  const known = Object.keys(checks);
  return (value, at, report) => {
    if (!isPlainObject(value))
      return report(at, value, "must be an object", example ?? `Its fields are ${known.join(", ")}.`);
    const path = (key: string): string => (at === "" ? key : `${at}.${key}`);
    for (const [key, check] of Object.entries(checks)) {
      if (value[key] !== undefined) check(value[key], path(key), report);
      else if (required.includes(key))
        report(path(key), undefined, "is missing", `Add ${path(key)}; it has no default.`);
    }
    for (const [key, entry] of Object.entries(value)) {
      if (Object.hasOwn(checks, key)) continue;
      const near = nearest(key.replaceAll("_", ""), known);
      const fix = near === undefined ? `The known fields are ${known.join(", ")}.` : `Did you mean ${near}?`;
      report(path(key), entry, "is not a known field", Object.hasOwn(elsewhere, key) ? (elsewhere[key] ?? fix) : fix);
    }
  };
}
