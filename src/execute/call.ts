import type { Principal } from "../guard/principal.ts";
import type { Progress, SourceRequest } from "../tool/handler.ts";

/** A request to run one tool. */
export interface ToolCall {
  /** The tool's id (`billing.refund_user`), qualified name (`billing.refund_user:1.0.0`), or its name if only one tool has it. */
  readonly toolName: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** False runs the tool even if `execution.result_cache` holds its result, which the new one then replaces. Defaults to true. */
  readonly cache?: boolean;
  /** False leaves checking the arguments to the tool's own source, whose answer is then the caller's. */
  readonly checkArguments?: boolean;
  /** Time one attempt may take, 100 to 300,000 ms. Defaults to the tool's own, then to the configured one. */
  readonly timeoutMs?: number;
  /**
   * The time at which the caller stops waiting, in milliseconds since the epoch. Bounds the whole call, with its waits and attempts. Defaults to
   * none.
   */
  readonly deadline?: number;
  /** Attempts in all, 1 to 5; 0 or omitted: the default of its ensemble, then the configured one. Only calls that are safe to repeat are retried. */
  readonly retryCount?: number;
  /** True requires a confirmation even if the policy does not. It can add a confirmation, never remove one. */
  readonly requireConfirmation?: boolean;
  /** The approved confirmation this call redeems. */
  readonly confirmationId?: string;
  /**
   * A name for this one call, 1 to 255 characters, unique among the caller's calls of the tool: repeating the call with it, when its answer was
   * lost, gives the same result and runs nothing again. With other arguments it is refused. It is remembered for a day.
   */
  readonly idempotencyKey?: string;
  /** The trace that the call belongs to: 32 hexadecimal digits for one that other programs can continue. Defaults to a new one. */
  readonly traceId?: string;
  /** The span that makes the call: 16 hexadecimal digits. */
  readonly parentSpanId?: string;
  /** False if the caller does not record its trace. Then no span of it is exported, and upstreams learn that too. Defaults to true. */
  readonly sampled?: boolean;
  /** The header `tracestate` (W3C Trace Context) of the trace, passed on to upstreams. An invalid one is ignored. */
  readonly tracestate?: string;
  /** The id that the model gave the call, for traces. */
  readonly callId?: string;
  /** The caller. Defaults to the local operator. */
  readonly principal?: Principal;
  /** The toolset that the caller looks through. Defaults to the whole catalog. */
  readonly toolset?: string;
  /** Passed to the handler unchanged. */
  readonly auxdata?: Readonly<Record<string, unknown>>;
  /** The client's request behind the call, for surfaces that use a source's protocol. Only that source's handlers get the request. */
  readonly request?: SourceRequest;
  readonly signal?: AbortSignal;
  readonly onProgress?: (update: Progress) => void;
}

/** Several calls. */
export interface BatchCall {
  readonly calls: readonly ToolCall[];
  /**
   * `parallel`: all at once; `sequential`: one after the other; `adaptive` (the default): neighbours that are confirmed read-only run at
   * once, everything else in order.
   */
  readonly strategy?: "parallel" | "sequential" | "adaptive";
  /** Cancels what has not finished once one call fails. */
  readonly failFast?: boolean;
  /** The deadline of every call in it that has no earlier one. */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}
