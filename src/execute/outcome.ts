import { isArsenalError } from "../errors/arsenal-error.ts";
import type { Tool } from "../tool/tool.ts";
import { isPastDeadline, type WaitLimits } from "./steps/deadline.ts";
import type { ResultError, ToolResult } from "./result.ts";
import { statusOf } from "./results/to-result-error.ts";

/** The end of a call, without the times and ids of a result. */
export interface Outcome extends Pick<
  ToolResult,
  "status" | "result" | "error" | "answer" | "confirmationId" | "startedAt" | "replayed" | "cached"
> {
  /** Defaults to 0. */
  readonly attempts?: number;
  /** The tokens of the arguments and the result, if they are counted. */
  readonly tokens?: number;
  /** The policy rule that refused the call, suspended it or allowed it. */
  readonly rule?: string;
}

export function failed(error: ResultError): Outcome {
  return { status: statusOf(error.code), error };
}

/**
 * The outcome of a cancelled call: by its caller, by revoked credentials, or by a gateway that shut down. `started` is true if the handler was
 * called, so the call may have taken effect.
 */
export function cancelled(name: string, signal: AbortSignal | undefined, started = false): Outcome {
  const reason: unknown = signal?.reason;
  if (isArsenalError(reason) && reason.code === "CLOSED") {
    if (started) return failed({ code: "CLOSED", message: `The call of ${name} was cut off: the gateway shut down.` });
    const message = `${name} was not started: the gateway shut down while the call waited. Call it again.`;
    return failed({ code: "CLOSED", message, beforeSend: true });
  }
  const isRevoked = isArsenalError(reason) && reason.code === "UNAUTHENTICATED";
  const isExplained = isRevoked || (isArsenalError(reason) && reason.code === "CANCELLED");
  const why = isExplained ? reason.message : `The call of ${name} was cancelled.`;
  const effect = started ? "It had started, and may have taken effect." : "It was not started.";
  return {
    status: "cancelled",
    error: { code: isRevoked ? "UNAUTHENTICATED" : "CANCELLED", message: `${why} ${effect}` },
  };
}

/** The outcome of a call that ran out of time before its handler was called. Repeating it is safe. */
export function neverStarted(tool: Tool, limits: WaitLimits, waitedFor: string, why?: string): Outcome {
  const [happened, fix] = isPastDeadline(limits)
    ? [`the call's deadline came while it waited for ${waitedFor}.`, "Try again with a later deadline."]
    : [`it waited ${limits.timeoutMs} ms for ${waitedFor}.`, "Try again, or give it more time with timeoutMs."];
  const message = `${tool.id} was not started: ${happened} ${why === undefined ? fix : `${why} ${fix}`}`;
  return failed({ code: "TIMEOUT", message, beforeSend: true });
}

/** The outcome of a call that was still waiting when the arsenal closed. */
export function closedBefore(tool: Tool): Outcome {
  const message = `${tool.id} was not started: the arsenal was closed while it waited for its turn.`;
  return failed({ code: "CLOSED", message, beforeSend: true });
}
