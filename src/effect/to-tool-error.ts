import type { ErrorCode } from "../errors/codes.ts";
import type { ResultError, ToolResult } from "../execute/result.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { follow } from "../tool/schema/keywords.ts";
import type { Tool } from "../tool/tool.ts";
import {
  ToolAuthorizationError,
  ToolExecutionError,
  ToolNotFoundError,
  ToolTimeoutError,
  ToolValidationError,
} from "./errors.ts";
import type { ToolInput } from "./schemas.ts";

export type CallError =
  | ToolNotFoundError
  | ToolExecutionError
  | ToolTimeoutError
  | ToolValidationError
  | ToolAuthorizationError;

type Kind = "missing" | "invalid" | "refused" | "late" | "failed";

/** Maps the codes of failed calls to errors. Any other code means that the tool failed. */
const KINDS: Readonly<Partial<Record<ErrorCode, Kind>>> = {
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
  UNAUTHENTICATED: "refused",
  TIMEOUT: "late",
};

export interface FailedCall {
  readonly input: ToolInput;
  readonly tool: Tool | undefined;
  /** Used if the error of the call does not state its time limit. */
  readonly timeoutMs: number;
  /** Names of tools that the agent may see, if the tool is missing. */
  readonly availableTools: readonly string[];
}

/** Returns true if the tool of this result does not exist for the agent. */
export function isMissing({ error }: Pick<ToolResult, "error">): boolean {
  return error !== undefined && KINDS[error.code] === "missing";
}

/**
 * Returns the tagged error of a call that did not succeed. The status is checked before the code: a timeout whose outcome is unknown is a timeout.
 */
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
    default:
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
  const given = follow(input.arguments, first.field.split("."));
  const isOneOf = Array.isArray(values);
  const stated = isOneOf ? values.join(" | ") : type;
  return {
    parameter: first.field,
    expected: typeof stated === "string" ? stated : (first.fix ?? "").replace(/^Give |\.$/g, ""),
    received: isOneOf && typeof given === "string" ? given : typeName(given),
  };
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
