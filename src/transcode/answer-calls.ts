import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import type { AnsweredCall, ReadCall } from "./dialect.port.ts";

/** Runs the calls of an answer concurrently and pairs each with its outcome, for `writeResults`. Unreadable calls get an error with the fix. */
export async function answerCalls(
  calls: readonly ReadCall[],
  execute: (call: ToolCall) => Promise<ToolResult>,
): Promise<readonly AnsweredCall[]> {
  return Promise.all(
    calls.map(async (read) => ({
      read,
      result: read.problem === undefined ? await execute(read.call) : toFailure(read, read.problem),
    })),
  );
}

function toFailure({ call }: ReadCall, message: string): ToolResult {
  return {
    ...neverRan(call.toolName, Date.now()),
    status: "failure",
    error: { code: "ARGUMENTS_INVALID", message },
  };
}

/** The fields of a result for a call that was not run. */
export function neverRan(toolName: string, at: number): Omit<ToolResult, "status"> {
  return { toolName, queuedAt: at, completedAt: at, latencyMs: 0, attempts: 0, traceId: "", spanId: "" };
}
