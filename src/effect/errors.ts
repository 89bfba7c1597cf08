import { Data } from "effect";
import type { ErrorCode } from "../errors/codes.ts";

interface OriginalError {
  /** The arsenal's code. It distinguishes errors that share a tag, such as RATE_LIMITED and CIRCUIT_OPEN. */
  readonly code?: ErrorCode;
  /** The arsenal's error with its details, such as `retryAfterMs`, or the error of an `IdentityService`. */
  readonly cause?: unknown;
}

/** No tool has that name, or the agent may not see it. */
export class ToolNotFoundError extends Data.TaggedError("ToolNotFoundError")<
  OriginalError & {
    readonly message: string;
    readonly toolName: string;
    /** Up to 100 tools that the agent may see. */
    readonly availableTools?: readonly string[];
  }
> {}

/** The tool could not be run, or failed. */
export class ToolExecutionError extends Data.TaggedError("ToolExecutionError")<
  OriginalError & { readonly message: string; readonly toolName: string; readonly input?: unknown }
> {}

/** The call ran out of time. With the code OUTCOME_UNKNOWN, the call may have taken effect. */
export class ToolTimeoutError extends Data.TaggedError("ToolTimeoutError")<
  OriginalError & { readonly message: string; readonly toolName: string; readonly timeoutMs: number }
> {}

/** The arguments do not match the tool's parameters. Describes the first problem; `cause` lists all of them. */
export class ToolValidationError extends Data.TaggedError("ToolValidationError")<
  OriginalError & {
    readonly message: string;
    readonly toolName: string;
    readonly parameter: string;
    readonly expected: string;
    readonly received: string;
  }
> {}

/** An MCP server could not be connected or disconnected. */
export class MCPConnectionError extends Data.TaggedError("MCPConnectionError")<
  OriginalError & { readonly message: string; readonly serverName: string; readonly transport: string }
> {}

/** The agent may not run the tool, or a person must approve the call first. */
export class ToolAuthorizationError extends Data.TaggedError("ToolAuthorizationError")<
  OriginalError & {
    readonly message: string;
    readonly toolName: string;
    readonly agentId: string;
    /** After approving this id, execute the same input with this id as `confirmationId`. */
    readonly confirmationId?: string;
  }
> {}

/** The arsenal could not be configured or searched. */
export class ToolServiceError extends Data.TaggedError("ToolServiceError")<
  OriginalError & { readonly message: string }
> {}
