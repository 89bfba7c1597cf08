import {
  contentOf,
  isPureData,
  type MediaPart,
  type ResultContent,
  textOf,
} from "../adapters/dialects/parts/result-content.ts";
import { shortenResult } from "../agent/shorten-result.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { ToolResult } from "../execute/result.ts";
import { toPlainData } from "../tool/schema/plain-data.ts";

/** Arguments as the model wrote them. `execute` checks them. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The outcome of a call, in the categories that frameworks use. */
export type CallOutcome = SuccessfulCall | WaitingCall | FailedCall;

/** The tool ran. */
export interface SuccessfulCall {
  readonly kind: "ok";
  /** The result as plain data, or as text. */
  readonly value: unknown;
  /** The result as text. */
  readonly text: string;
  /** The result with images, sounds and files, for frameworks that show them to the model. */
  readonly content: ResultContent;
}

/** The call waits for a person. Nothing ran. */
export interface WaitingCall {
  readonly kind: "waiting";
  /** The id to approve in the arsenal. */
  readonly confirmationId: string;
  /** Why the call waits, and how to approve it. */
  readonly reason: string;
  /** The same text for the model. */
  readonly text: string;
}

/**
 * The call did not succeed. `error`: the tool failed. `denied`: the caller may not make the call, or a person denied it. `cancelled`: its signal
 * fired. `unknown`: its outcome was lost, so it may have taken effect.
 */
export interface FailedCall {
  readonly kind: "error" | "denied" | "cancelled" | "unknown";
  readonly code: ErrorCode;
  readonly reason: string;
  /** The error and the next step, for the model. */
  readonly text: string;
}

/** Converts a result. Shortens a successful result to `most` characters, as `createAgent` does. */
export function toOutcome(result: ToolResult, args: unknown, most: number): CallOutcome {
  const { answer: _answer, ...kept } = result;
  const shown: ToolResult = {
    ...kept,
    ...("result" in kept && { result: shortenResult(toPlainData(kept.result), most) }),
  };
  const read = { id: "", call: { toolName: result.toolName, arguments: args as Arguments } };
  const content = contentOf({ read, result: shown });
  const text = textOf(content);
  if (!content.isError) return { kind: "ok", value: isPureData(content) ? content.structured : text, text, content };
  const { confirmationId, error } = result;
  const { code = "EXECUTION_FAILED", message: reason = text } = error ?? {};
  if (result.status === "pending_confirmation" && confirmationId !== undefined)
    return { kind: "waiting", confirmationId, reason, text };
  return { kind: kindOf(result), code, reason, text };
}

function kindOf({ status, error }: ToolResult): FailedCall["kind"] {
  if (error?.code === "OUTCOME_UNKNOWN") return "unknown";
  if (status === "permission_denied") return "denied";
  return status === "cancelled" ? "cancelled" : "error";
}

/** Returns the images, sounds and files of a result. */
export function mediaParts({ parts }: ResultContent): readonly MediaPart[] {
  return parts.filter((part) => part.kind === "media");
}
