import { ArsenalError, fixable, type LocatedIssue } from "../../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../../errors/codes.ts";
import { count, nearest, showValue } from "../../../errors/show-value.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { toPlainData } from "../../../tool/schema/plain-data.ts";
import { type KeyPath, keyLines } from "./key-lines.ts";

type Table = Readonly<Record<string, unknown>>;

export interface Rule {
  /** Completes a sentence after "must be". */
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
  readonly required?: true;
}

/** Throws an error about one key, with file and line. */
export type Refuse = (path: KeyPath, message: string, fix: string) => never;

/** A TOML file with checks that collect problems, so all problems are reported at once. */
export type TomlDocument = Awaited<ReturnType<typeof openToml>>;

/** Parses a TOML file. Throws, with line and column, if the text is not TOML. */
export async function openToml(file: string, text: string, code: ErrorCode) {
  const { parse, TomlError } = await import("smol-toml");
  let root: Table;
  try {
    root = toPlainData(parse(text)) as Table;
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const { line, column } = cause;
    const reason = cause.message.split("\n")[0]?.replace("Invalid TOML document: ", "") ?? "";
    const written = text.split("\n")[line - 1]?.trim() ?? "";
    const problem = `${file}:${line}:${column}: invalid TOML: ${reason}.`;
    throw fixable(code, problem, `Fix ${showValue(written)}.`, { field: file, cause });
  }
  const lineOf = keyLines(text);
  const issues: LocatedIssue[] = [];
  const locate = (path: KeyPath, message: string, fix: string, value?: unknown): LocatedIssue => ({
    at: `${file}:${lineOf(path)}`,
    field: path.join("."),
    message,
    fix,
    ...(value !== undefined && { value }),
  });
  const report = (...problem: Parameters<typeof locate>): void => void issues.push(locate(...problem));
  const refuse: Refuse = (...problem) => {
    throw toError(code, [locate(...problem)]);
  };

  return {
    /** Checks the table at a path, key by key. Returns an empty table if there is no table at the path. */
    table(path: KeyPath, rules: Readonly<Record<string, Rule>>): Table {
      const found = path.reduce<unknown>((inside, key) => (inside as Table | undefined)?.[key], root);
      if (!isPlainObject(found)) {
        const name = path.join(".");
        if (found === undefined) report(path, "is missing", `Add a table [${name}].`);
        else report(path, "must be a table", `Write it as [${name}].`, found);
        return {};
      }
      for (const [key, rule] of Object.entries(rules))
        if (rule.required && found[key] === undefined)
          report([...path, key], `is missing; it must be ${rule.expected}`, `Add ${key} to ${inWords(path)}.`);
      for (const [key, value] of Object.entries(found)) {
        const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
        if (rule === undefined) {
          const near = nearest(key, Object.keys(rules));
          const known = `Known keys here: ${Object.keys(rules).join(", ")}.`;
          report([...path, key], "is not a known key", near ? `Did you mean "${near}"?` : known);
        } else if (!rule.fits(value))
          report([...path, key], `must be ${rule.expected}, not ${showValue(value)}`, `Change ${key}.`, value);
      }
      return found;
    },
    report,
    /** Throws one error with every collected problem, each with file, line and key. */
    refuseIfWrong() {
      if (issues.length > 0) throw toError(code, issues);
    },
    refuse,
  };
}

function toError(code: ErrorCode, issues: readonly LocatedIssue[]): ArsenalError {
  const [first, ...others] = issues as readonly [LocatedIssue, ...LocatedIssue[]];
  const { at: place, ...details } = first;
  const more = others.length === 0 ? "" : ` (and ${count(others.length, "more problem")})`;
  return new ArsenalError(code, `${place}: ${details.field} ${details.message}. ${details.fix}${more}`, {
    ...details,
    issues: issues.map(({ at, ...issue }) => ({ ...issue, message: `${issue.message} (${at})` })),
  });
}

function inWords(path: KeyPath): string {
  if (path.length === 0) return "the file";
  return path.some((key) => typeof key === "number") ? `[[${String(path[0])}]]` : `[${path.join(".")}]`;
}

export const text: Rule = {
  expected: "a non-empty string",
  fits: (value) => typeof value === "string" && value.trim() !== "",
};
export const flag: Rule = { expected: "true or false", fits: (value) => typeof value === "boolean" };
export const texts: Rule = {
  expected: "a list of strings",
  fits: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
};
export const table: Rule = { expected: "a table", fits: isPlainObject };
export const tables: Rule = { expected: "an array of tables", fits: (value) => Array.isArray(value) };

/** Accepts a number in a range. */
export function number(minimum: number, maximum: number, unit: string): Rule {
  return {
    expected: `a number of ${unit} from ${minimum} to ${maximum}`,
    fits: (value) => typeof value === "number" && value >= minimum && value <= maximum,
  };
}

/** Accepts an integer in a range. */
export function whole(minimum: number, maximum: number): Rule {
  return {
    expected: `a whole number from ${minimum} to ${maximum}`,
    fits: (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  };
}

export function required(rule: Rule): Rule {
  return { ...rule, required: true };
}
