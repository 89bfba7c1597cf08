import type { ToolCall } from "../execute/call.ts";
import type { ExecutionStatus, ResultError } from "../execute/result.ts";
import type { Principal } from "../guard/principal.ts";

/** Work that continues in another process if its own process ends. */
export type RunKind = "program" | "workflow";

export type RunStatus = "running" | "waiting" | "done" | "failed" | "cancelled";

/** A call that a run made, for display. */
export interface RunCall {
  /** Identifies the call within its run. */
  readonly key: string;
  readonly tool: string;
  readonly status: ExecutionStatus;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly spanId?: string;
  readonly error?: ResultError;
}

/** A finished step of a run: a call or a pause. Steps are kept in the order in which they ended. */
export interface RecordedStep {
  /** Identifies the step within its run. A repeated run uses the same key in any process. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  readonly call?: RunCall;
  /** The result of a successful call. */
  readonly result?: unknown;
}

/** An approval that a run waits for. */
export interface RunWait {
  readonly key: string;
  readonly tool: string;
  readonly confirmationId: string;
}

/** The reason why a run failed. */
export interface RunError {
  readonly message: string;
  readonly code?: string;
  readonly line?: number;
}

/** A run without its input, calls and result. */
export interface RunHead {
  readonly id: string;
  readonly kind: RunKind;
  /** A name for people: the workflow's name, or the beginning of the program. */
  readonly title: string;
  /** The id of the tool whose call started the run: a workflow, or a saved program. */
  readonly tool?: string;
  readonly owner: Principal;
  readonly toolset?: string;
  readonly status: RunStatus;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** 1 for a run that no other run called, 2 for a run that such a run called, and so on. Older releases omit it. */
  readonly depth?: number;
  readonly waits: readonly RunWait[];
  readonly error?: RunError;
  /** Identifies the request, so that an equal request finds its run. */
  readonly asked: string;
}

/** A run with all its stored data. */
export interface Run extends RunHead {
  /** The input of the runner. */
  readonly work: unknown;
  readonly calls: readonly RunCall[];
  readonly result?: unknown;
}

/** A call as a run makes it. The run adds its caller, its trace and the key that prevents a second execution. */
export type RunToolCall = Pick<
  ToolCall,
  "toolName" | "arguments" | "checkArguments" | "timeoutMs" | "retryCount" | "requireConfirmation" | "callId"
>;

/** The outcome of a call in a run. */
export interface StepResult {
  readonly status: ExecutionStatus;
  readonly toolId?: string;
  readonly result?: unknown;
  readonly error?: ResultError;
  /** The approval that the call waits for. */
  readonly confirmationId?: string;
  /** Milliseconds since the epoch. Unchanged when the run is repeated. */
  readonly endedAt: number;
  /** True if the call ended before the run was suspended. */
  readonly recorded?: true;
}

/** The part of a run that its runner uses. */
export interface RunContext {
  readonly id: string;
  readonly owner: Principal;
  readonly toolset: string | undefined;
  readonly startedAt: number;
  readonly depth: number;
  /** Fires when the run is cancelled, or another process may have taken it over. */
  readonly signal: AbortSignal;
  /** The keys of the steps that ended before the run was suspended, in the order in which they ended. Empty at the first start. */
  readonly recorded: readonly string[];
  /**
   * Runs a tool once for this run and this key. After a restart, in any process, the same key returns the recorded result. A call that waits for
   * approval resolves with `pending_confirmation`: let the other steps end, then return `{ status: "waiting" }`.
   */
  call(key: string, call: RunToolCall): Promise<StepResult>;
  /** Waits once for this run and this key. Resolves with the time at which the wait ended. */
  pause(key: string, ms: number): Promise<number>;
}

/** The end of a runner's turn. A waiting run is repeated from its start once one of its approvals was answered. */
export type RunEnd =
  | { readonly status: "done"; readonly result: unknown }
  | { readonly status: "failed"; readonly error: RunError; readonly result?: unknown }
  | { readonly status: "waiting"; readonly result?: unknown };

/** Executes one kind of run. A runner must be deterministic: the same results of the same steps lead to the same next steps. */
export type Runner = (work: unknown, context: RunContext) => Promise<RunEnd>;
