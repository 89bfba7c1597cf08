import type { ErrorCode } from "../errors/codes.ts";
import type { ResultError, ToolResult } from "../execute/result.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import {
  ToolAuthorizationError,
  ToolExecutionError,
  ToolNotFoundError,
  ToolTimeoutError,
  ToolValidationError,
} from "./errors.ts";
import type { ToolInput } from "./schemas.ts";

/** Every error that `execute` can fail with. */
export type CallError =
  | ToolNotFoundError
  | ToolExecutionError
  | ToolTimeoutError
  | ToolValidationError
  | ToolAuthorizationError;

type Kind = "missing" | "invalid" | "refused" | "late" | "failed";

/** What each code of a failed call is to an Effect program. */
const KINDS: Readonly<Record<ErrorCode, Kind>> = {
  TOOL_NOT_FOUND: "missing",
  TOOLSET_NOT_FOUND: "missing",
  ENSEMBLE_NOT_FOUND: "missing",
  ARGUMENTS_INVALID: "invalid",
  CALL_INVALID: "invalid",
  QUERY_INVALID: "invalid",
  IDEMPOTENCY_CONFLICT: "invalid",
  PERMISSION_DENIED: "refused",
  CONFIRMATION_REQUIRED: "refused",
  APPROVAL_INVALID: "refused",
  TIMEOUT: "late",
  OUTCOME_UNKNOWN: "failed",
  RATE_LIMITED: "failed",
  CIRCUIT_OPEN: "failed",
  CANCELLED: "failed",
  EXECUTION_FAILED: "failed",
  RESULT_TOO_LARGE: "failed",
  CONTEXT_TOO_LONG: "failed",
  TRANSPORT_FAILED: "failed",
  PROTOCOL_ERROR: "failed",
  SOURCE_UNAVAILABLE: "failed",
  SANDBOX_FAILED: "failed",
  HANDLER_MISSING: "failed",
  TOOL_INVALID: "failed",
  CONFIG_INVALID: "failed",
  STORE_FAILED: "failed",
  AUDIT_FAILED: "failed",
  LIBRARY_MISSING: "failed",
  INPUT_INVALID: "failed",
  AGENT_STOPPED: "failed",
  UNAUTHENTICATED: "refused",
  INTERNAL_ERROR: "failed",
  CLOSED: "failed",
};

/** What an error is made of, besides the result. */
export interface FailedCall {
  readonly input: ToolInput;
  readonly tool: Tool | undefined;
  /** The time the call may take, if its error does not say. */
  readonly timeoutMs: number;
  /** Names of tools that the agent may see, if the tool is missing. */
  readonly availableTools: readonly string[];
}

/** True if the tool of this result does not exist for the agent. */
export function isMissing({ error }: Pick<ToolResult, "error">): boolean {
  return error !== undefined && KINDS[error.code] === "missing";
}

/** The tagged error of a call that did not succeed. Its status decides before its code: a timeout whose outcome is unknown is a timeout. */
export function toToolError(
  result: Pick<ToolResult, "status" | "error" | "confirmationId">,
  call: FailedCall,
): CallError {
  const { status, error = UNNAMED, confirmationId } = result;
  const { input, tool, timeoutMs, availableTools } = call;
  const { toolName, agentId } = input;
  const { code, message } = error;
  const original = { message, toolName, code, cause: error };
  switch (status === "timeout" ? "late" : KINDS[code]) {
    case "missing":
      return new ToolNotFoundError({ ...original, availableTools });
    case "invalid":
      return new ToolValidationError({ ...original, ...firstProblem(error, input, tool) });
    case "refused":
      return new ToolAuthorizationError({ ...original, agentId, ...(confirmationId && { confirmationId }) });
    case "late":
      return new ToolTimeoutError({
        ...original,
        timeoutMs: typeof error.value === "number" ? error.value : timeoutMs,
      });
    case "failed":
      return new ToolExecutionError({ ...original, input: input.arguments });
  }
}

const UNNAMED: ResultError = { code: "EXECUTION_FAILED", message: "The tool failed and did not say why." };

function firstProblem(
  { field = "", fix = "", issues, code, value }: ResultError,
  input: ToolInput,
  tool: Tool | undefined,
): Pick<ToolValidationError, "parameter" | "expected" | "received"> {
  if (code !== "ARGUMENTS_INVALID") return { parameter: field, expected: fix, received: String(value) };
  const [first = { field, fix }] = issues ?? [];
  const properties = tool?.parameters["properties"];
  const schema = isPlainObject(properties) ? properties[first.field] : undefined;
  const { enum: values, type } = isPlainObject(schema) ? schema : {};
  const given = first.field.split(".").reduce<unknown>(at, input.arguments);
  const isOneOf = Array.isArray(values);
  const stated = isOneOf ? values.join(" | ") : type;
  return {
    parameter: first.field,
    expected: typeof stated === "string" ? stated : (first.fix ?? "").replace(/^Give |\.$/g, ""),
    received: isOneOf && typeof given === "string" ? given : typeName(given),
  };
}

function at(value: unknown, step: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, step)
    ? (value as Record<string, unknown>)[step]
    : undefined;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
