import { isArsenalError, withoutFix } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";

/** The result of a check: `failed` if it breaks the gateway, its audit log or ordinary calls. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  readonly fix?: string | undefined;
  /** The error behind a failure. */
  readonly error?: unknown;
  /** True for a general finding that is redundant if another one is about the same part. */
  readonly general?: true;
  /** True if the check is the name of a source. */
  readonly source?: true;
  /** The message of the event that the finding replaces. */
  readonly reported?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, state: "ok", message });
export const warning = (check: string, message: string, fix?: string): Finding => ({
  check,
  state: "warning",
  message,
  fix,
});
export const failed = (check: string, message: string, fix?: string): Finding => ({
  check,
  state: "failed",
  message,
  fix,
});

/** One finding for each problem of an error. */
export function failures(check: string, error: unknown): readonly Finding[] {
  if (!isArsenalError(error)) return [{ ...failed(check, messageOf(error)), error }];
  const { issues, fix } = error.details;
  if (issues && issues.length > 0)
    return issues.map((issue) => ({ ...failed(check, `${issue.field}: ${issue.message}`, issue.fix), error }));
  return [{ ...failed(check, withoutFix(error), fix), error }];
}

/** The first problem of an error. */
export function failure(check: string, error: unknown): Finding {
  return failures(check, error)[0] ?? failed(check, messageOf(error));
}

/** The findings of a check, or those of the error that it throws. */
export async function findingsOf(
  check: string,
  work: () => readonly Finding[] | Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    return failures(check, error);
  }
}
