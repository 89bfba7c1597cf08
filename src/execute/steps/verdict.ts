import type { ErrorCode } from "../../errors/codes.ts";
import type { HealthBook } from "../../observe/health.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Outcome } from "../outcome.ts";

/** Errors that do not show whether the tool works: the caller, the policy or a limit is the cause. */
const NOT_THE_TOOLS_FAULT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "ARGUMENTS_INVALID",
  "CALL_INVALID",
  "TOOL_NOT_FOUND",
  "HANDLER_MISSING",
  "PERMISSION_DENIED",
  "APPROVAL_INVALID",
  "CONFIRMATION_REQUIRED",
  "IDEMPOTENCY_CONFLICT",
  "AUDIT_FAILED",
  "RATE_LIMITED",
  "CIRCUIT_OPEN",
  "CANCELLED",
  "CLOSED",
]);

/**
 * The meaning of an outcome for the tool's health. `reported` is an error that the tool itself returned: it counts against the tool's health but
 * does not open its circuit.
 */
export type Verdict = "success" | "failure" | "reported" | "neutral";

export function verdictOf({ status, error }: Outcome): Verdict {
  if (status === "success") return "success";
  if (status === "pending_confirmation") return "neutral";
  if (error?.answered === true) return "reported";
  return error === undefined || NOT_THE_TOOLS_FAULT.has(error.code) ? "neutral" : "failure";
}

export function recordHealth(health: HealthBook, tool: Tool, verdict: Verdict, lastAttemptMs: number): void {
  if (verdict === "success") health.recordSuccess(tool.id, lastAttemptMs);
  if (verdict === "failure" || verdict === "reported") health.recordFailure(tool.id, lastAttemptMs);
}
