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
import type { ResultError, ToolResult } from "./result.ts";

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

/** Takes secrets out of an error; the same error where there are none. */
export type RedactError = (error: ResultError) => ResultError;

/** What ending a call needs. */
export interface FinishParts {
  readonly clock: Clock;
  readonly emit: Emit;
  readonly audit?: CallAudit | undefined;
  readonly redact?: RedactError | undefined;
}

/** Makes the result of a call, records it and tells that it ended. Where the audit is strict, the record is kept before the result is given. */
export function finishCall(
  ended: Ended,
  { clock, emit, audit, redact }: FinishParts,
): ToolResult | Promise<ToolResult> {
  const { call, ids, principal, queuedAt, tool } = ended;
  const toolId = tool?.id ?? ended.hiddenId ?? UNKNOWN_TOOL;
  const completedAt = clock.now();
  const queuedMs = (ended.outcome.startedAt ?? completedAt) - queuedAt;
  const result = shown(ended.outcome);
  const recording = audit?.record(toCallRecord(ended, result, toolId, queuedMs));
  if (recording === undefined) return told(result);
  return recording.then((problem) =>
    told(problem === undefined ? result : shown(withheld(toolId, ended.outcome, problem))),
  );

  /** The one place where every error of every call passes on its way to the caller, to events and to the record. */
  function shown(outcome: Outcome): ToolResult {
    const { error } = outcome;
    const safe = error === undefined || redact === undefined ? outcome : { ...outcome, error: redact(error) };
    return toResult(ended, safe, completedAt);
  }

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
  const { status, error, answer, confirmationId, startedAt, attempts = 0, replayed } = outcome;
  return {
    toolName: typeof call?.toolName === "string" ? call.toolName : "",
    ...(tool !== undefined && { toolId: tool.id }),
    status,
    ...(status === "success" && { result: outcome.result }),
    ...(error !== undefined && { error }),
    ...(answer !== undefined && { answer }),
    ...(confirmationId !== undefined && { confirmationId }),
    ...(replayed === true && { replayed }),
    queuedAt: Math.round(queuedAt),
    ...(startedAt !== undefined && { startedAt: Math.round(startedAt) }),
    completedAt: Math.round(completedAt),
    latencyMs: startedAt === undefined ? 0 : completedAt - startedAt,
    attempts,
    ...ids,
  };
}
