import { isArsenalError } from "../../errors/arsenal-error.ts";
import { ERROR_CODES, type ErrorCode } from "../../errors/codes.ts";
import { showValue } from "../../errors/show-value.ts";
import type { ExecutionStatus, ResultError } from "../result.ts";

/** Converts a thrown value to the error of a result. Omits stacks and causes, because models and third parties read results. */
export function toResultError(thrown: unknown): ResultError {
  if (isArsenalError(thrown) && Object.hasOwn(ERROR_CODES, thrown.code))
    return { ...thrown.details, code: thrown.code, message: thrown.message };
  return { code: "EXECUTION_FAILED", message: messageOf(thrown) };
}

const STATUSES: Partial<Record<ErrorCode, ExecutionStatus>> = {
  TIMEOUT: "timeout",
  PERMISSION_DENIED: "permission_denied",
  APPROVAL_INVALID: "permission_denied",
  CONFIRMATION_REQUIRED: "pending_confirmation",
  CIRCUIT_OPEN: "circuit_open",
  CANCELLED: "cancelled",
};

/** Returns the status of a call that ends with this error code. */
export function statusOf(code: ErrorCode): ExecutionStatus {
  return STATUSES[code] ?? "failure";
}

function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === "string" && thrown !== "") return thrown;
    if (typeof thrown === "object" && thrown !== null) {
      const { message, name, errors } = thrown as { message?: unknown; name?: unknown; errors?: unknown };
      if (typeof message === "string" && message !== "") return message;
      // An AggregateError, for example of a refused connection, contains the actual messages.
      if (Array.isArray(errors) && errors.length > 0) return errors.map(messageOf).join("; ");
      if (thrown instanceof Error && typeof name === "string") return `${name} without a message`;
    }
    return `The tool threw ${showValue(thrown, 200)}`;
  } catch {
    return "The tool threw something that cannot be read.";
  }
}
