import type { ErrorCode } from "../../errors/codes.ts";
import type { Tool } from "../../tool/tool.ts";
import { backoffMs } from "../../base/turns/backoff.ts";
import type { ResultError } from "../result.ts";

/** Failures that another attempt can fix. All other failures are permanent or intended. */
const PASSING_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "EXECUTION_FAILED",
  "TIMEOUT",
  "OUTCOME_UNKNOWN",
  "TRANSPORT_FAILED",
  "PROTOCOL_ERROR",
  "RATE_LIMITED",
  "SOURCE_UNAVAILABLE",
  "SANDBOX_FAILED",
  "STORE_FAILED",
]);

/** Failures after which the call may have run, but its answer was lost. */
const LOST_ANSWERS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TIMEOUT",
  "TRANSPORT_FAILED",
  "PROTOCOL_ERROR",
  "CLOSED",
]);

/** True if the operator confirmed that the tool changes nothing. */
export function isConfirmedReadOnly({ annotations: { confirmed, readOnly } }: Tool): boolean {
  return confirmed && readOnly === true;
}

/** True if the operator confirmed that running the tool twice has the same effect as running it once. */
function isSafeToRepeat(tool: Tool): boolean {
  const { confirmed, idempotent } = tool.annotations;
  return isConfirmedReadOnly(tool) || (confirmed && idempotent === true);
}

export function mayRetry(tool: Tool, error: ResultError): boolean {
  return PASSING_FAILURES.has(error.code) && (isSafeToRepeat(tool) || error.beforeSend === true);
}

/** Adapts an error for the caller: if the answer was lost and the tool is not safe to repeat, the outcome is unknown. */
export function withOutcomeKnown(tool: Tool, error: ResultError): ResultError {
  // An error that the tool itself reported is an answer.
  if (!LOST_ANSWERS.has(error.code) || error.beforeSend === true || error.answered === true || isSafeToRepeat(tool))
    return error;
  const fix = "Check whether it took effect before you call it again.";
  const sentence = /[.!?…]$/.test(error.message) ? error.message : `${error.message}.`;
  const message = `${sentence} ${tool.id} may or may not have taken effect. ${fix}`;
  return { ...error, code: "OUTCOME_UNKNOWN", message, fix };
}

/** Returns the delay after an attempt: exponential, with jitter, and at least the delay that the tool requested. */
export function retryDelayMs(attempt: number, firstMs: number, random: () => number, retryAfterMs = 0): number {
  return Math.max(retryAfterMs, random() * backoffMs(attempt - 1, { firstMs }));
}
