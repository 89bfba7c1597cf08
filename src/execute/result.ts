import type { ErrorCode } from "../errors/codes.ts";
import type { ErrorDetails } from "../errors/arsenal-error.ts";
import type { SourceAnswer } from "../tool/handler.ts";

/** The ways in which a call can end. */
export const EXECUTION_STATUSES = [
  "success",
  "failure",
  "timeout",
  "permission_denied",
  "circuit_open",
  "pending_confirmation",
  "cancelled",
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** The outcome of one call. */
export interface ToolResult {
  /** The name as the caller gave it. */
  readonly toolName: string;
  /** The called tool. Omitted if none was found. */
  readonly toolId?: string;
  readonly status: ExecutionStatus;
  readonly result?: unknown;
  readonly error?: ResultError;
  /**
   * The server's complete answer to the call's `request`, for surfaces that pass it on. If the guard changed the result, the answer has the same
   * changes. Omitted if the guard changed an error, or if the changed answer no longer fits the protocol.
   */
  readonly answer?: SourceAnswer;
  /** The id to approve. Then repeat the call with it as `confirmationId`. */
  readonly confirmationId?: string;
  /** True if this is the result of an earlier call with the same idempotency key. */
  readonly replayed?: true;
  /** True if this is the result of an earlier call, from `execution.result_cache`. */
  readonly cached?: true;
  /** Milliseconds since the epoch. */
  readonly queuedAt: number;
  /** When the handler was first called. Omitted if it was never called. */
  readonly startedAt?: number;
  readonly completedAt: number;
  /** The time from the start of the handler to its end. 0 if it never started. */
  readonly latencyMs: number;
  /** The number of times the handler was called. */
  readonly attempts: number;
  readonly traceId: string;
  readonly spanId: string;
}

/** Why a call did not succeed. */
export interface ResultError extends ErrorDetails {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The results of a batch, in the order of its calls. */
export interface BatchResult {
  readonly results: readonly ToolResult[];
  readonly totalTimeMs: number;
  readonly successfulCount: number;
  readonly failedCount: number;
}
