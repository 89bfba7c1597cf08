import { configInvalid, type LocatedIssue } from "../../../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../../../errors/show-value.ts";
import { MAX_PATTERN_LENGTH } from "../../../../guard/pattern.ts";

/** Returns the location of a path, for the start of a message: `policy.yaml:3:5 `. */
export type Locate = (path: readonly string[]) => string;

type Path = readonly string[];

/** Collects the problems of a document, so one error reports all of them. */
export type Problems = ReturnType<typeof createProblems>;

export function createProblems(locate: Locate) {
  const issues: LocatedIssue[] = [];
  function report(path: Path, message: string, value: unknown, fix: string): void {
    issues.push({ field: path.join(".") || "policy", message, value, fix, at: locate(path) });
  }
  return {
    report,
    mustBe: (path: Path, what: string, value: unknown, fix: string): void =>
      report(path, `must be ${what}, not ${showValue(value)}`, value, fix),
    refuse(): void {
      if (issues.length > 0) throw configInvalid(issues);
    },
  };
}

/** Checks a list of texts, limited to the `known` ones if given. A single text counts as a list. */
export function checkList(
  value: unknown,
  path: Path,
  problems: Problems,
  known?: readonly string[],
): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) {
    const fix = "Name at least one, or leave the key out to match all.";
    problems.report(path, "is an empty list, which matches nothing", value, fix);
  }
  return list.map((entry, index) => {
    const at = Array.isArray(value) ? [...path, String(index)] : path;
    if (known !== undefined) return oneOf(entry, at, known, problems) ?? "";
    if (typeof entry === "string" && entry.length > MAX_PATTERN_LENGTH) {
      const message = `has ${entry.length} characters; the limit is ${MAX_PATTERN_LENGTH}`;
      problems.report(at, message, undefined, "Write a shorter name or pattern.");
      return "";
    }
    if (typeof entry === "string" && entry.trim() !== "") return entry.trim();
    const fix = "Write a name, or a pattern with * for any characters.";
    problems.mustBe(at, "a non-empty string", entry, fix);
    return "";
  });
}

/** Returns a known value. Reports any other value and returns undefined. */
export function oneOf<T extends string>(value: unknown, path: Path, known: readonly T[], { mustBe }: Problems) {
  if (known.includes(value as T)) return value as T;
  const one = `one of ${known.join(", ")}`;
  mustBe(path, one, value, didYouMean(value, known, `Write ${one}.`));
  return undefined;
}

/** Reports unknown keys, because a rule must not lose a condition through a typo. */
export function checkKeys(value: object, path: Path, known: readonly string[], { report }: Problems): void {
  for (const key of Object.keys(value).filter((each) => !known.includes(each))) {
    const fix = didYouMean(key, known, `Known keys here: ${known.join(", ")}.`);
    report([...path, key], `unknown key "${key}"`, key, fix);
  }
}

/** Returns the fix for a wrong word: the known word with the most similar spelling. */
export function didYouMean(word: unknown, known: readonly string[], otherwise: string): string {
  const near = typeof word === "string" ? nearest(word, known) : undefined;
  return near === undefined ? otherwise : `Did you mean "${near}"?`;
}
