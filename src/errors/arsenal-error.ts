import type { ErrorCode } from "./codes.ts";

/** The details of an error. */
export interface ErrorDetails {
  /** The path of the field with dots: `parameters.type`, `execution.max_retries`. */
  readonly field?: string;
  readonly value?: unknown;
  readonly fix?: string;
  readonly confirmationId?: string;
  /** Milliseconds until a retry can succeed. */
  readonly retryAfterMs?: number;
  /** True if the failure certainly happened before anything was sent. A retry is then safe. */
  readonly beforeSend?: boolean;
  /** True if the tool ran and reported the error itself, so it is reachable and works. */
  readonly answered?: boolean;
  /** The side that caused the failure, if the code alone does not determine it. Failures of the caller never count against the tool. */
  readonly fault?: "tool" | "caller";
  readonly issues?: readonly ErrorIssue[];
}

/** One problem among several. */
export interface ErrorIssue {
  readonly field: string;
  readonly message: string;
  readonly value?: unknown;
  readonly fix?: string;
}

/** The only error class. Misuse and invalid configuration throw it, and the result of a failed call has its code. */
export class ArsenalError extends Error {
  override readonly name = "ArsenalError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: ErrorDetails & { readonly cause?: unknown } = {}) {
    const { cause, ...details } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

/** Returns true for an `ArsenalError`, even one from another copy of this package. */
export function isArsenalError(error: unknown): error is ArsenalError {
  return error instanceof Error && error.name === "ArsenalError" && "code" in error;
}

/** Creates an error whose message ends with the fix. */
export function fixable(
  code: ErrorCode,
  problem: string,
  fix: string,
  details: Omit<ErrorDetails, "fix"> & { readonly cause?: unknown } = {},
): ArsenalError {
  return new ArsenalError(code, `${problem} ${fix}`, { ...details, fix });
}

/** Returns an error's message without the fix at its end. */
export function withoutFix({ message, details: { fix } }: ArsenalError): string {
  return fix !== undefined && message.endsWith(` ${fix}`) ? message.slice(0, -fix.length - 1) : message;
}

/** A problem and its position in the file. */
export type LocatedIssue = ErrorIssue & { readonly at: string };

/** Creates one error for all problems. The message states the first in full. */
export function configInvalid(issues: readonly LocatedIssue[]): ArsenalError {
  const shown = issues.map(({ at, field, message, ...issue }) => ({
    ...issue,
    field,
    message: at === "" ? message : `${message} (${at.trimEnd()})`,
  }));
  const [first] = issues as readonly [LocatedIssue];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const { at, field, message, value, fix = "" } = first;
  return new ArsenalError("CONFIG_INVALID", `${at}${field}: ${message}. ${fix}${more}`, {
    field,
    ...(value === undefined ? {} : { value }),
    fix,
    issues: shown,
  });
}
