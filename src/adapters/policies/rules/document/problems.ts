import { ArsenalError } from "../../../../errors/arsenal-error.ts";

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
