import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolCall } from "./call.ts";
import type { CallIds } from "./handler-context.ts";
import type { Outcome } from "./outcome.ts";
import type { ToolResult } from "./result.ts";

/** One name for all tools that do not exist, so that callers cannot fill a metric with names of their own. */
const UNKNOWN_TOOL = "(unknown)";

/** Makes the result of a call, and tells that it ended. */
export function finishCall(
  ended: {
    readonly call: ToolCall;
    readonly ids: CallIds;
    readonly principal: Principal;
    readonly queuedAt: number;
    readonly outcome: Outcome;
    readonly tool: Tool | undefined;
    readonly hiddenId: string | undefined;
  },
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): ToolResult {
  const { call, ids, principal, queuedAt, outcome, tool } = ended;
  const { status, error, confirmationId, startedAt, attempts = 0 } = outcome;
  const completedAt = clock.now();
  const latencyMs = startedAt === undefined ? 0 : completedAt - startedAt;
  const parentSpanId: unknown = call?.parentSpanId;
  emit("call-finished", {
    toolId: tool?.id ?? ended.hiddenId ?? UNKNOWN_TOOL,
    ...ids,
    ...(typeof parentSpanId === "string" && { parentSpanId }),
    status,
    ...(error !== undefined && { code: error.code, message: error.message }),
    attempts,
    queuedMs: (startedAt ?? completedAt) - queuedAt,
    latencyMs,
    principal: String(principal.id),
  });
  return {
    toolName: typeof call?.toolName === "string" ? call.toolName : "",
    ...(tool !== undefined && { toolId: tool.id }),
    status,
    ...(status === "success" && { result: outcome.result }),
    ...(error !== undefined && { error }),
    ...(confirmationId !== undefined && { confirmationId }),
    queuedAt,
    ...(startedAt !== undefined && { startedAt }),
    completedAt,
    latencyMs,
    attempts,
    ...ids,
  };
}
