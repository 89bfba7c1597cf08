import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";

/** A reason to refuse a server or a bundle from outside. */
export interface Danger {
  /** The path in the document: `packages.0.identifier`. */
  readonly field: string;
  /** A clause such as `contains a shell command`. */
  readonly reason: string;
  readonly value?: unknown;
}

/** Returns the error for a refused server. Nothing was written or run. */
export function refusedServer(subject: string, dangers: readonly Danger[]): ArsenalError {
  const [first = { field: "server", reason: "is refused" }, ...others] = dangers;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const problem = `${subject} is refused as dangerous: ${first.field} ${first.reason}${more}. Nothing was written or run.`;
  return fixable("SERVER_REFUSED", problem, "Do not use it unless you know its publisher; report it to the registry.", {
    field: first.field,
    ...(first.value !== undefined && { value: first.value }),
    issues: dangers.map(({ field, reason, value }) => ({
      field,
      message: reason,
      ...(value !== undefined && { value }),
    })),
  });
}
