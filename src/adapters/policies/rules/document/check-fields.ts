import { configInvalid, type LocatedIssue } from "../../../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../../../errors/show-value.ts";

/** Where a path stands, for the start of a message: `policy.yaml:3:5 `. */
export type Locate = (path: readonly string[]) => string;

/** Reports one problem: where it is, what it is, the value that has it, and what to do. */
export type Report = (path: readonly string[], message: string, value: unknown, fix: string) => void;

/** Gathers the problems of a document, and throws one `CONFIG_INVALID` for all of them. */
export function createProblems(locate: Locate) {
  const issues: LocatedIssue[] = [];
  const report: Report = (path, message, value, fix) =>
    void issues.push({ field: path.join(".") || "policy", message, value, fix, at: locate(path) });
  return {
    report,
    refuse(): void {
      if (issues.length > 0) throw configInvalid(issues);
    },
  };
}

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
    if (typeof entry === "string" && entry.trim() !== "") return entry.trim();
    const fix = "Write a name, with * for any characters where it stands for several.";
    report(at, `must be a text that is not empty, not ${showValue(entry)}`, entry, fix);
    return "";
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
  const fix = didYouMean(value, known, `Write one of ${known.join(", ")}.`);
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
  for (const key of Object.keys(value).filter((each) => !known.includes(each))) {
    const fix = didYouMean(key, known, `Known keys here: ${known.join(", ")}.`);
    report([...path, key], `unknown key "${key}"`, key, fix);
  }
}

/** The fix for a wrong word: the known one that is spelled nearly like it. */
export function didYouMean(word: unknown, known: readonly string[], otherwise: string): string {
  const near = typeof word === "string" ? nearest(word, known) : undefined;
  return near === undefined ? otherwise : `Did you mean "${near}"?`;
}
