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

/** The one outcome of one call. */
export interface ToolResult {
  /** The name as the caller gave it. */
  readonly toolName: string;
  /** The tool that was meant; omitted if none was found. */
  readonly toolId?: string;
  readonly status: ExecutionStatus;
  /** The output of the tool. */
  readonly result?: unknown;
  readonly error?: ResultError;
  /**
   * The server's whole answer to the call's `request`, which a surface passes on as it is. It never contains content that the guard removed: if the
   * guard changed the result, this is the changed result. Omitted if the guard changed an error, or if no answer in the protocol's format is left.
   */
  readonly answer?: SourceAnswer;
  /** Approve this id, then make the same call with it as `confirmationId`. */
  readonly confirmationId?: string;
  /** True if an earlier call with the same idempotency key ran, and this is its result. */
  readonly replayed?: true;
  /** True if an earlier call ran the tool and this is its result, from `execution.result_cache`. */
  readonly cached?: true;
  /** Milliseconds since the epoch. */
  readonly queuedAt: number;
  /** The time of the handler's first call; omitted if the handler was never called. */
  readonly startedAt?: number;
  readonly completedAt: number;
  /** From the start of the handler to its end; 0 if the handler never started. */
  readonly latencyMs: number;
  /** The number of times the handler was called. */
  readonly attempts: number;
  readonly traceId: string;
  readonly spanId: string;
}

/** The reason why a call did not succeed. */
export interface ResultError extends ErrorDetails {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The outcomes of a batch, in the order of its calls. */
export interface BatchResult {
  readonly results: readonly ToolResult[];
  readonly totalTimeMs: number;
  readonly successfulCount: number;
  readonly failedCount: number;
}
