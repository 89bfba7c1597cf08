import type { ErrorCode } from "../../errors/codes.ts";
import type { Tool } from "../../tool/tool.ts";
import { backoffMs } from "../../base/turns/backoff.ts";
import type { ResultError } from "../result.ts";

/** Failures that another attempt can fix. All others are the same every time, or were wanted. */
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

/** Failures in which an answer may have been lost on the way back. */
const LOST_ANSWERS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TIMEOUT",
  "TRANSPORT_FAILED",
  "PROTOCOL_ERROR",
  "CLOSED",
]);

/** True if the operator vouches that the tool changes nothing. */
export function isConfirmedReadOnly({ annotations: { confirmed, readOnly } }: Tool): boolean {
  return confirmed && readOnly === true;
}

/** True if running a tool twice does no more than running it once, and the operator vouches for that. */
function isSafeToRepeat(tool: Tool): boolean {
  const { confirmed, idempotent } = tool.annotations;
  return isConfirmedReadOnly(tool) || (confirmed && idempotent === true);
}

export function mayRetry(tool: Tool, error: ResultError): boolean {
  return PASSING_FAILURES.has(error.code) && (isSafeToRepeat(tool) || error.beforeSend === true);
}

/** The error as the caller must see it: a lost answer of a tool that is not safe to repeat is an unknown outcome. */
export function withOutcomeKnown(tool: Tool, error: ResultError): ResultError {
  // An error that the tool itself reported is an answer.
  if (!LOST_ANSWERS.has(error.code) || error.beforeSend === true || error.answered === true || isSafeToRepeat(tool))
    return error;
  const fix = "Check whether it took effect before you call it again.";
  const sentence = /[.!?…]$/.test(error.message) ? error.message : `${error.message}.`;
  const message = `${sentence} ${tool.id} may or may not have taken effect. ${fix}`;
  return { ...error, code: "OUTCOME_UNKNOWN", message, fix };
}

/** Returns the wait after an attempt: doubled each time, spread out at random, and never less than the tool requests. */
export function retryDelayMs(attempt: number, firstMs: number, random: () => number, retryAfterMs = 0): number {
  return Math.max(retryAfterMs, random() * backoffMs(attempt - 1, { firstMs }));
}
