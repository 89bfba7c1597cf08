import type { ErrorCode } from "../errors/codes.ts";
import { formatResult } from "../execute/results/format-result.ts";
import type { ToolResult } from "../execute/result.ts";
import { isConfirmedReadOnly } from "../execute/steps/retry.ts";
import { toPlainData } from "../tool/schema/plain-data.ts";
import type { Tool } from "../tool/tool.ts";

/** One call that a model asks for. Plain JSON data. */
export interface Invocation {
  /** The provider's id, or a unique one if the provider sent none. */
  readonly id: string;
  /** True if the provider sent no id. The id is then not sent back. */
  readonly idMadeUp?: true;
  /** The tool's name as `prepareTools` wrote it. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** When the call was read, as ISO 8601. */
  readonly timestamp: string;
  /** The reason why the call cannot be made, for the model to fix. */
  readonly problem?: string;
}

/** The outcome of one invocation. Plain JSON data. */
export interface InvocationResult {
  readonly invocationId: string;
  readonly idMadeUp?: true;
  readonly name: string;
  /** The content shown to the model: the tool's output, or the error as text. Omitted if the tool returned nothing. */
  readonly content?: unknown;
  readonly error?: InvocationError;
  /** The approval that the call waits for. Once approved, execute the same invocation again. */
  readonly confirmationId?: string;
  /** True if the tool is confirmed read-only: a later equal call has the newer result. */
  readonly readOnly?: true;
  /** The id of the invocation that has the result, if this result is only a reference. */
  readonly sameAs?: string;
  /** When the call ended, as ISO 8601. */
  readonly timestamp: string;
}

/** Why an invocation failed. */
export interface InvocationError {
  readonly code: ErrorCode;
  readonly category: ErrorCategory;
  readonly message: string;
}

/** `validation`: the call does not match the tool's schema. `network`: a service that the tool needs is unavailable. */
export type ErrorCategory = "validation" | "execution" | "timeout" | "permission" | "network";

/** Returns the category of an error code. */
export function errorCategory(code: ErrorCode): ErrorCategory {
  switch (code) {
    case "ARGUMENTS_INVALID":
    case "CALL_INVALID":
    case "IDEMPOTENCY_CONFLICT":
    case "INPUT_INVALID":
    case "QUERY_INVALID":
    case "TOOL_INVALID":
    case "TOOL_NOT_FOUND":
    case "TOOLSET_NOT_FOUND":
      return "validation";
    case "TIMEOUT":
      return "timeout";
    case "APPROVAL_INVALID":
    case "AUDIT_FAILED":
    case "CONFIRMATION_REQUIRED":
    case "PERMISSION_DENIED":
    case "QUOTA_EXCEEDED":
      return "permission";
    case "CIRCUIT_OPEN":
    case "OUTCOME_UNKNOWN":
    case "PROTOCOL_ERROR":
    case "RATE_LIMITED":
    case "SOURCE_UNAVAILABLE":
    case "TRANSPORT_FAILED":
      return "network";
    default:
      return "execution";
  }
}

/** Returns the record of a call that the arsenal answered. */
export function toRecord(invocation: Invocation, tool: Tool, result: ToolResult): InvocationResult {
  const { status, error, confirmationId, completedAt } = result;
  const content = status === "success" ? toPlainData(result.result) : formatResult(result, invocation);
  return {
    ...idsOf(invocation),
    ...(content !== undefined && { content }),
    ...(error !== undefined && {
      error: {
        code: error.code,
        category: status === "timeout" ? "timeout" : errorCategory(error.code),
        message: error.message,
      },
    }),
    ...(confirmationId !== undefined && { confirmationId }),
    ...(isConfirmedReadOnly(tool) && { readOnly: true }),
    timestamp: toTimestamp(completedAt),
  };
}

/** Returns the record of a call that did not reach a tool. */
export function toFailure(
  invocation: Invocation,
  error: { readonly code: ErrorCode; readonly message: string },
  now: number,
): InvocationResult {
  const { code, message } = error;
  return {
    ...idsOf(invocation),
    content: message,
    error: { code, category: errorCategory(code), message },
    timestamp: toTimestamp(now),
  };
}

export function idsOf({
  id,
  idMadeUp,
  name,
}: Invocation): Pick<InvocationResult, "invocationId" | "idMadeUp" | "name"> {
  return { invocationId: id, ...(idMadeUp === true && { idMadeUp }), name };
}

/** Converts milliseconds since the epoch to ISO 8601. */
export function toTimestamp(at: number): string {
  return new Date(at).toISOString();
}
