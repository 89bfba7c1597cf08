import { isArsenalError } from "../errors/arsenal-error.ts";
import type { Tool } from "../tool/tool.ts";
import { isPastDeadline, type WaitLimits } from "./steps/deadline.ts";
import type { ResultError, ToolResult } from "./result.ts";
import { statusOf } from "./results/to-result-error.ts";

/** The end of a call, before times and ids are added to make a result. */
export interface Outcome extends Pick<
  ToolResult,
  "status" | "result" | "error" | "answer" | "confirmationId" | "startedAt" | "replayed" | "cached"
> {
  /** Defaults to 0. */
  readonly attempts?: number;
  /** The tokens of the arguments and the result, if they are counted. */
  readonly tokens?: number;
  /** The rule of the policy that refused the call, had it wait or let it run. */
  readonly rule?: string;
}

export function failed(error: ResultError): Outcome {
  return { status: statusOf(error.code), error };
}

/**
 * A call that its caller cancelled, whose caller's credentials were revoked, or that a closing gateway cut off. `started` is true if the handler was called, so the call may have taken
 * effect.
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

/** A call that ran out of time before its handler was called: repeating it is safe. */
export function neverStarted(tool: Tool, limits: WaitLimits, waitedFor: string, why?: string): Outcome {
  const [happened, fix] = isPastDeadline(limits)
    ? [`the call's deadline came while it waited for ${waitedFor}.`, "Try again with a later one."]
    : [`it waited ${limits.timeoutMs} ms for ${waitedFor}.`, "Try again, or give it more time with timeoutMs."];
  const message = `${tool.id} was not started: ${happened} ${why === undefined ? fix : `${why} ${fix}`}`;
  return failed({ code: "TIMEOUT", message, beforeSend: true });
}

/** A call whose turn came after the arsenal was closed. */
export function closedBefore(tool: Tool): Outcome {
  const message = `${tool.id} was not started: the arsenal was closed while it waited for its turn.`;
  return failed({ code: "CLOSED", message, beforeSend: true });
}
