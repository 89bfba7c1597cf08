import { readTracestate } from "../../base/trace-headers.ts";
import { toCallRecord, withheld } from "./audit-call.ts";
import type { EngineParts } from "../engine.ts";
import type { Outcome } from "../outcome.ts";
import type { ToolResult } from "../result.ts";
import type { RunningCall } from "../running-call.ts";

/** The name of all unknown tools in metrics, so that callers cannot create labels. */
const UNKNOWN_TOOL = "(unknown)";

/** Creates the result of a call, records it and emits `call-finished`. Returns the result once the record would survive a crash of this process. */
export function finishCall(
  running: RunningCall,
  outcome: Outcome,
  { clock, emit, audit, redact }: Pick<EngineParts, "clock" | "emit" | "audit" | "redact">,
): ToolResult | Promise<ToolResult> {
  const { call, ids, principal, queuedAt, tool, hiddenId, steps } = running;
  const toolId = tool?.id ?? hiddenId ?? UNKNOWN_TOOL;
  const completedAt = clock.now();
  const queuedMs = (outcome.startedAt ?? completedAt) - queuedAt;
  const result = shown(outcome);
  const recording = audit?.record(toCallRecord(running, outcome, result, toolId, queuedMs));
  if (recording === undefined) return emitted(result);
  return recording.then((problem) =>
    emitted(problem === undefined ? result : shown(withheld(toolId, outcome, problem))),
  );

  /** Every error of a call passes here before callers, events and records get it. */
  function shown(ended: Outcome): ToolResult {
    const { error } = ended;
    const safe = error === undefined || redact === undefined ? ended : { ...ended, error: redact(error) };
    return toResult(running, safe, completedAt);
  }

  function emitted(final: ToolResult): ToolResult {
    const { status, error, cached, attempts, latencyMs } = final;
    const parentSpanId: unknown = call?.parentSpanId;
    const toolset: unknown = call?.toolset;
    const callId: unknown = call?.callId;
    const tracestate = readTracestate(call?.tracestate);
    emit("call-finished", {
      toolId,
      ...ids,
      ...(typeof parentSpanId === "string" && { parentSpanId }),
      ...(typeof toolset === "string" && { toolset }),
      status,
      ...(error !== undefined && { code: error.code, message: error.message }),
      ...(cached === true && { cached }),
      attempts,
      queuedMs,
      latencyMs,
      principal: String(principal.id),
      startedAt: queuedAt,
      durationMs: completedAt - queuedAt,
      ...(call?.sampled === false && { sampled: false }),
      ...(tracestate !== undefined && { tracestate }),
      ...(tool !== undefined && { source: tool.source }),
      ...(tool?.ensemble !== undefined && { ensemble: tool.ensemble }),
      ...(typeof callId === "string" && { callId }),
      steps,
      ...(principal.tenant !== undefined && { tenant: principal.tenant }),
      ...(outcome.tokens !== undefined && { tokens: outcome.tokens }),
      ...(attempts > 0 && tool?.cost.monetaryCost !== undefined && { cost: attempts * tool.cost.monetaryCost }),
    });
    return final;
  }
}

function toResult({ call, ids, queuedAt, tool }: RunningCall, outcome: Outcome, completedAt: number): ToolResult {
  const { status, error, answer, confirmationId, startedAt, attempts = 0, replayed, cached } = outcome;
  return {
    toolName: typeof call?.toolName === "string" ? call.toolName : "",
    ...(tool !== undefined && { toolId: tool.id }),
    status,
    ...(status === "success" && { result: outcome.result }),
    ...(error !== undefined && { error }),
    ...(answer !== undefined && { answer }),
    ...(confirmationId !== undefined && { confirmationId }),
    ...(replayed === true && { replayed }),
    ...(cached === true && { cached }),
    queuedAt: Math.round(queuedAt),
    ...(startedAt !== undefined && { startedAt: Math.round(startedAt) }),
    completedAt: Math.round(completedAt),
    latencyMs: startedAt === undefined ? 0 : completedAt - startedAt,
    attempts,
    ...ids,
  };
}
