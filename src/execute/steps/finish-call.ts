import { readTracestate } from "../../base/trace-headers.ts";
import type { EventMap } from "../../observe/events.ts";
import { toCallRecord, withheld } from "./audit-call.ts";
import type { ToolCall } from "../call.ts";
import type { EngineParts } from "../engine.ts";
import type { Outcome } from "../outcome.ts";
import type { ToolResult } from "../result.ts";
import type { RunningCall } from "../running-call.ts";

/** The name of all unknown tools in metrics, so that callers cannot create labels. */
const UNKNOWN_TOOL = "(unknown)";

type Mutable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

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
    const { parentSpanId, toolset, callId }: { readonly [Key in keyof ToolCall]?: unknown } = call ?? {};
    const tracestate = readTracestate(call?.tracestate);
    // Setting members one by one costs a fraction of merging objects, and each call makes this event.
    const event = { toolId, traceId: ids.traceId, spanId: ids.spanId } as Mutable<EventMap["call-finished"]>;
    if (typeof parentSpanId === "string") event.parentSpanId = parentSpanId;
    if (typeof toolset === "string") event.toolset = toolset;
    event.status = status;
    if (error !== undefined) {
      event.code = error.code;
      event.message = error.message;
    }
    if (cached === true) event.cached = cached;
    event.attempts = attempts;
    event.queuedMs = queuedMs;
    event.latencyMs = latencyMs;
    event.principal = String(principal.id);
    event.startedAt = queuedAt;
    event.durationMs = completedAt - queuedAt;
    if (call?.sampled === false) event.sampled = false;
    if (tracestate !== undefined) event.tracestate = tracestate;
    if (tool !== undefined) event.source = tool.source;
    if (tool?.ensemble !== undefined) event.ensemble = tool.ensemble;
    if (typeof callId === "string") event.callId = callId;
    event.steps = steps;
    if (principal.tenant !== undefined) event.tenant = principal.tenant;
    if (outcome.tokens !== undefined) event.tokens = outcome.tokens;
    if (attempts > 0 && tool?.cost.monetaryCost !== undefined) event.cost = attempts * tool.cost.monetaryCost;
    emit("call-finished", event);
    return final;
  }
}

function toResult({ call, ids, queuedAt, tool }: RunningCall, outcome: Outcome, completedAt: number): ToolResult {
  const { status, error, answer, confirmationId, startedAt, attempts = 0, replayed, cached } = outcome;
  const result = { toolName: typeof call?.toolName === "string" ? call.toolName : "" } as Mutable<ToolResult>;
  if (tool !== undefined) result.toolId = tool.id;
  result.status = status;
  if (status === "success") result.result = outcome.result;
  if (error !== undefined) result.error = error;
  if (answer !== undefined) result.answer = answer;
  if (confirmationId !== undefined) result.confirmationId = confirmationId;
  if (replayed === true) result.replayed = replayed;
  if (cached === true) result.cached = cached;
  result.queuedAt = Math.round(queuedAt);
  if (startedAt !== undefined) result.startedAt = Math.round(startedAt);
  result.completedAt = Math.round(completedAt);
  result.latencyMs = startedAt === undefined ? 0 : completedAt - startedAt;
  result.attempts = attempts;
  result.traceId = ids.traceId;
  result.spanId = ids.spanId;
  return result;
}
