import { writeData } from "../../tool/schema/plain-data.ts";
import type { ToolCall } from "../call.ts";
import type { ExecutionStatus, ResultError, ToolResult } from "../result.ts";

/** Formats a result as text for a model's context. Never shortens the output. Mentions the arguments only if the call is given. */
export function formatResult(result: ToolResult, call?: Pick<ToolCall, "arguments">): string {
  const { status, error } = result;
  const lines = [
    `Tool Execution ${HEADINGS[status] ?? "Failed"}`,
    `Tool: ${result.toolName}`,
    ...(call === undefined ? [] : [`Arguments: ${show(call.arguments ?? {})}`]),
    status === "success" ? `Output: ${show(result.result)}` : `Error: ${error?.message ?? status}`,
    ...(result.confirmationId === undefined ? [] : [`Confirmation: ${result.confirmationId}`]),
    `Execution Time: ${Math.round(result.latencyMs)}ms`,
  ];
  if (error !== undefined) lines.push("", nextStep(error));
  return lines.join("\n");
}

const HEADINGS: Partial<Record<ExecutionStatus, string>> = {
  success: "Result",
  pending_confirmation: "Awaiting Confirmation",
  cancelled: "Cancelled",
};

/** Advises the model on its next step. Repeating a call helps only if its arguments or its timing were wrong. */
function nextStep({ code, retryAfterMs }: ResultError): string {
  const later = retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1000)} s`;
  switch (code) {
    case "ARGUMENTS_INVALID":
    case "CALL_INVALID":
      return "Please try again with valid arguments.";
    case "TOOL_NOT_FOUND":
      return "Please search for a tool that does the job and call it by its name.";
    case "APPROVAL_INVALID":
      return "Please do what the error says.";
    case "PERMISSION_DENIED":
    case "QUOTA_EXCEEDED":
      return "Please do not repeat this call; use another tool or tell the user what is missing.";
    case "CONFIRMATION_REQUIRED":
      return "Please ask the user to approve this call, and do not approve it yourself. Once it is approved, make exactly the same call again.";
    case "RATE_LIMITED":
    case "CIRCUIT_OPEN":
      return `Please use another tool, or try again ${later}.`;
    case "OUTCOME_UNKNOWN":
      return "Please check whether the call took effect before you repeat it.";
    case "TIMEOUT":
    case "TRANSPORT_FAILED":
    case "PROTOCOL_ERROR":
    case "SOURCE_UNAVAILABLE":
      return "Please try again later, or use another tool.";
    case "CANCELLED":
      return "Please do not repeat this call unless the user asks for it.";
    case "EXECUTION_FAILED":
      return "Please read the error: call again only if other arguments can fix it, otherwise use another tool.";
    default:
      return "Please use another tool, or tell the user about the error.";
  }
}

/** Formats a value: strings unchanged, everything else as JSON on one line with spaces after commas and colons. */
function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "(nothing)";
  const written = writeData(value);
  if (written === undefined) return String(value);
  // Line breaks inside strings are escaped, so every line break here is between values.
  return JSON.stringify(written.data, null, 1).replace(/,\n */g, ", ").replace(/\n */g, "");
}
