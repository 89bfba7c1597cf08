import type { CallAudit } from "../guard/audit/call-audit.ts";
import type { AuditedArguments } from "../guard/audit.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import { toCallRecord, withheld } from "./audit-call.ts";
import type { ToolCall } from "./call.ts";
import type { CallIds } from "./handler-context.ts";
import type { Outcome } from "./outcome.ts";
import type { ToolResult } from "./result.ts";

/** One name for all tools that do not exist, so that callers cannot fill a metric with names of their own. */
const UNKNOWN_TOOL = "(unknown)";

/** A call that has its outcome. */
export interface Ended {
  readonly call: ToolCall;
  readonly ids: CallIds;
  readonly principal: Principal;
  readonly queuedAt: number;
  readonly outcome: Outcome;
  readonly tool: Tool | undefined;
  readonly hiddenId: string | undefined;
  /** What the audit keeps of the arguments. */
  readonly arguments?: AuditedArguments | undefined;
}

/** Makes the result of a call, records it and tells that it ended. Where the audit is strict, the record is kept before the result is given. */
export function finishCall(
  ended: Ended,
  { clock, emit, audit }: { readonly clock: Clock; readonly emit: Emit; readonly audit?: CallAudit | undefined },
): ToolResult | Promise<ToolResult> {
  const { call, ids, principal, queuedAt, tool } = ended;
  const toolId = tool?.id ?? ended.hiddenId ?? UNKNOWN_TOOL;
  const completedAt = clock.now();
  const queuedMs = (ended.outcome.startedAt ?? completedAt) - queuedAt;
  const result = toResult(ended, ended.outcome, completedAt);
  const recording = audit?.record(toCallRecord(ended, result, toolId, queuedMs));
  if (recording === undefined) return told(result);
  return recording.then((problem) =>
    told(problem === undefined ? result : toResult(ended, withheld(toolId, ended.outcome, problem), completedAt)),
  );

  function told(final: ToolResult): ToolResult {
    const { status, error, attempts, latencyMs } = final;
    const parentSpanId: unknown = call?.parentSpanId;
    emit("call-finished", {
      toolId,
      ...ids,
      ...(typeof parentSpanId === "string" && { parentSpanId }),
      status,
      ...(error !== undefined && { code: error.code, message: error.message }),
      attempts,
      queuedMs,
      latencyMs,
      principal: String(principal.id),
    });
    return final;
  }
}

function toResult({ call, ids, queuedAt, tool }: Ended, outcome: Outcome, completedAt: number): ToolResult {
  const { status, error, confirmationId, startedAt, attempts = 0, replayed } = outcome;
  return {
    toolName: typeof call?.toolName === "string" ? call.toolName : "",
    ...(tool !== undefined && { toolId: tool.id }),
    status,
    ...(status === "success" && { result: outcome.result }),
    ...(error !== undefined && { error }),
    ...(confirmationId !== undefined && { confirmationId }),
    ...(replayed === true && { replayed }),
    queuedAt,
    ...(startedAt !== undefined && { startedAt }),
    completedAt,
    latencyMs: startedAt === undefined ? 0 : completedAt - startedAt,
    attempts,
    ...ids,
  };
}
