import type { AuditedDecision, CallRecord } from "../../guard/audit.port.ts";
import type { Tool } from "../../tool/tool.ts";
import { failed, type Outcome } from "../outcome.ts";
import type { ToolResult } from "../result.ts";
import type { RunningCall } from "../running-call.ts";

/** The maximum number of characters that a record keeps of text from the caller. */
const MAX_TEXT = 200;

export function toCallRecord(
  running: RunningCall,
  outcome: Outcome,
  result: ToolResult,
  toolId: string,
  queuedMs: number,
): CallRecord {
  const { call, principal, tool, hiddenId, audited } = running;
  const { status, error, confirmationId = call?.confirmationId, latencyMs, attempts, traceId, spanId } = result;
  const known = tool !== undefined || hiddenId !== undefined;
  return {
    kind: "call",
    toolId,
    ...(!known && { asked: cut(result.toolName) }),
    ...(tool !== undefined && { version: tool.version, contentHash: tool.contentHash }),
    principal: String(principal.id),
    ...(principal.tenant !== undefined && { tenant: String(principal.tenant) }),
    ...(typeof call?.toolset === "string" && { toolset: cut(call.toolset) }),
    decision: decisionOf(outcome, hiddenId),
    status,
    ...(error !== undefined && { code: error.code }),
    ...(typeof confirmationId === "string" && { confirmationId: cut(confirmationId) }),
    ...(typeof call?.idempotencyKey === "string" && { idempotencyKey: cut(call.idempotencyKey) }),
    ...(outcome.replayed === true && { replayed: true }),
    ...(outcome.cached === true && { cached: true }),
    ...(audited !== undefined && { arguments: audited }),
    attempts,
    queuedMs: toMicroseconds(queuedMs),
    latencyMs: toMicroseconds(latencyMs),
    traceId: cut(traceId),
    spanId,
    ...(typeof call?.parentSpanId === "string" && { parentSpanId: cut(call.parentSpanId) }),
  };
}

/** Withholds the result of a call that ran without a stored audit record. The outcome of a call that did not run is unchanged. */
export function withheld(toolId: string, outcome: Outcome, problem: string): Outcome {
  if (outcome.status !== "success") return outcome;
  const { startedAt, attempts } = outcome;
  const message = `${toolId} ran, but its result is withheld: its audit record could not be kept. ${problem}`;
  return {
    ...failed({ code: "AUDIT_FAILED", message }),
    ...(startedAt !== undefined && { startedAt: Math.round(startedAt) }),
    ...(attempts !== undefined && { attempts }),
  };
}

/** The outcome of a call that may not run because its record could not be stored. */
export function notAudited(tool: Tool, problem: string): Outcome {
  const message = `${tool.id} was not started: its audit record could not be kept. ${problem}`;
  return failed({ code: "AUDIT_FAILED", message, beforeSend: true });
}

/** Derives the guard's decision from the outcome. A tool that is hidden from the caller counts as denied. */
function decisionOf(
  { status, error, attempts = 0, rule, replayed, cached }: Outcome,
  hiddenId: string | undefined,
): AuditedDecision {
  const named = rule !== undefined && { rule };
  if (hiddenId !== undefined) return { effect: "denied", rule: "not-visible" };
  if (status === "permission_denied" && attempts === 0) return { effect: "denied", ...named };
  if (error?.code === "RATE_LIMITED" && attempts === 0) return { effect: "denied", rule: "rate-limit" };
  if (error?.code === "QUOTA_EXCEEDED" && attempts === 0) return { effect: "denied", rule: "quota" };
  if (status === "pending_confirmation" && attempts === 0) return { effect: "pending", ...named };
  return { effect: attempts > 0 || replayed === true || cached === true ? "allowed" : "none", ...named };
}

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
