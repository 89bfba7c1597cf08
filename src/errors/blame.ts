import type { ErrorDetails } from "./arsenal-error.ts";
import type { ErrorCode } from "./codes.ts";

type Side = NonNullable<ErrorDetails["fault"]>;

/**
 * The side that causes errors of each code. `caller` is final; errors of the tool can still be the caller's fault. Errors that end a call before the
 * tool runs, or that are independent of the tool, such as a limit or a shutdown, count as the caller's.
 */
const SIDES: Readonly<Record<ErrorCode, Side>> = {
  TOOL_INVALID: "caller",
  TOOL_NOT_FOUND: "caller",
  TOOL_OWNED: "caller",
  TOOLSET_NOT_FOUND: "caller",
  ENSEMBLE_NOT_FOUND: "caller",
  HANDLER_MISSING: "caller",
  ARGUMENTS_INVALID: "caller",
  CALL_INVALID: "caller",
  QUERY_INVALID: "caller",
  INPUT_INVALID: "caller",
  UNAUTHENTICATED: "caller",
  SIGN_IN_REQUIRED: "caller",
  PERMISSION_DENIED: "caller",
  CONFIRMATION_REQUIRED: "caller",
  APPROVAL_INVALID: "caller",
  IDEMPOTENCY_CONFLICT: "caller",
  AUDIT_FAILED: "caller",
  RATE_LIMITED: "caller",
  QUOTA_EXCEEDED: "caller",
  TENANT_NOT_FOUND: "caller",
  NAME_TAKEN: "caller",
  CIRCUIT_OPEN: "caller",
  CANCELLED: "caller",
  CLOSED: "caller",
  RESULT_TOO_LARGE: "caller",
  CONTEXT_TOO_LONG: "caller",
  TIMEOUT: "tool",
  OUTCOME_UNKNOWN: "tool",
  EXECUTION_FAILED: "tool",
  TRANSPORT_FAILED: "tool",
  PROTOCOL_ERROR: "tool",
  SOURCE_UNAVAILABLE: "tool",
  SERVER_REFUSED: "caller",
  SANDBOX_FAILED: "tool",
  CONFIG_INVALID: "tool",
  STORE_FAILED: "tool",
  LIBRARY_MISSING: "tool",
  AGENT_STOPPED: "tool",
  INTERNAL_ERROR: "tool",
};

/**
 * Decides which side caused an error. Circuit breakers, tool health and learning from use all follow this rule: only failures of the tool count, so
 * one caller's mistakes do not affect others.
 */
export function sideOf({ code, fault, answered, value }: ErrorDetails & { readonly code: ErrorCode }): Side {
  if (SIDES[code] === "caller") return "caller";
  if (fault !== undefined) return fault;
  const status: unknown = typeof value === "object" && value !== null && "status" in value ? value.status : undefined;
  if (typeof status === "number" && status >= 400) return sideOfStatus(status);
  return answered === true ? "caller" : "tool";
}

/** Returns the side that caused an HTTP error. 5xx is the tool, 4xx the caller: also 401 and 403, whose credentials are unknown, and 429. */
export function sideOfStatus(status: number): Side {
  return status >= 400 && status < 500 ? "caller" : "tool";
}

/** JSON-RPC errors that a caller causes: invalid parameters, and in MCP a missing resource and a page that a person must open first. */
const CALLERS_RPC_ERRORS: ReadonlySet<unknown> = new Set([-32602, -32002, -32042]);

/** Returns the side that caused a JSON-RPC error: the tool, unless the code means a mistake of the caller. */
export function sideOfRpcError(code: unknown): Side {
  return CALLERS_RPC_ERRORS.has(code) ? "caller" : "tool";
}
