import { isArsenalError, withoutFix } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";

/** The result of a check. `failed` means that the gateway, its audit log or ordinary calls do not work. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  readonly fix?: string | undefined;
  readonly error?: unknown;
  /** True for a general finding, which is redundant if another finding is about the same part. */
  readonly general?: true;
  /** True if the check is the name of a source. */
  readonly source?: true;
  /** The message of the event that this finding replaces. */
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

/** Returns one finding for each problem of an error. */
export function failures(check: string, error: unknown): readonly Finding[] {
  if (!isArsenalError(error)) return [{ ...failed(check, messageOf(error)), error }];
  const { issues, fix } = error.details;
  if (issues && issues.length > 0)
    return issues.map((issue) => ({ ...failed(check, `${issue.field}: ${issue.message}`, issue.fix), error }));
  return [{ ...failed(check, withoutFix(error), fix), error }];
}

export function failure(check: string, error: unknown): Finding {
  return failures(check, error)[0] ?? failed(check, messageOf(error));
}

/** Returns the findings of a check, or of the error that it throws. */
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
