import { nearest, showValue } from "../../../../errors/show-value.ts";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";

/** Reports one problem: where it is, what it is, the value that has it, and what to do. */
export type Report = (path: readonly string[], message: string, value: unknown, fix: string) => void;

/** A list of texts, of the `known` ones where those are closed. One text stands for a list of it. */
export function checkList(
  value: unknown,
  path: readonly string[],
  report: Report,
  known?: readonly string[],
): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) {
    const fix = "Name at least one, or leave the key out to match all.";
    report(path, "is an empty list, which matches nothing", value, fix);
  }
  return list.map((entry, index) => {
    const at = Array.isArray(value) ? [...path, String(index)] : path;
    if (known !== undefined) return oneOf(entry, at, known, report) ?? "";
    if (typeof entry !== "string" || entry.trim() === "") {
      const fix = "Write a name, with * for any characters where it stands for several.";
      report(at, `must be a text that is not empty, not ${showValue(entry)}`, entry, fix);
      return "";
    }
    return entry.trim();
  });
}

/** The value where it is one of the known ones; undefined, and reported, where not. */
export function oneOf<T extends string>(
  value: unknown,
  path: readonly string[],
  known: readonly T[],
  report: Report,
): T | undefined {
  if (known.includes(value as T)) return value as T;
  const near = typeof value === "string" ? nearest(value, known) : undefined;
  const fix = near === undefined ? `Write one of ${known.join(", ")}.` : `Did you mean "${near}"?`;
  report(path, `must be one of ${known.join(", ")}, not ${showValue(value)}`, value, fix);
  return undefined;
}

/** Reports keys that are not known here: a condition with a typo must not be a rule without it. */
export function checkKeys(
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  known: readonly string[],
  report: Report,
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const near = nearest(key, known);
    const fix = near === undefined ? `Known keys here: ${known.join(", ")}.` : `Did you mean "${near}"?`;
    report([...path, key], `unknown key "${key}"`, key, fix);
  }
}

/** Something wrong in a policy document. */
export interface Problem {
  /** The keys that lead to it, outermost first. */
  readonly path: readonly string[];
  /** What it is, in words that follow the field's name. */
  readonly message: string;
  readonly value?: unknown;
  readonly fix: string;
}

/** Where a path stands, for the start of a message: `policy.yaml:3:5 `. */
export type Locate = (path: readonly string[]) => string;

/** One `CONFIG_INVALID` for all problems of a document. Its message tells the first in full. */
export function documentInvalid(problems: readonly Problem[], locate: Locate): ArsenalError {
  const issues = problems.map(({ path, message, fix, ...rest }) => {
    const at = locate(path);
    const field = path.join(".") || "policy";
    return { field, message: at === "" ? message : `${message} (${at.trimEnd()})`, fix, ...rest };
  });
  const [first] = problems as readonly [Problem];
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const field = first.path.join(".") || "policy";
  return new ArsenalError("CONFIG_INVALID", `${locate(first.path)}${field}: ${first.message}. ${first.fix}${more}`, {
    field,
    ...(first.value === undefined ? {} : { value: first.value }),
    fix: first.fix,
    issues,
  });
}
