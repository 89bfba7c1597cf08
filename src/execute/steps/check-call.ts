import type { AegisRequest } from "../../guard/aegis.ts";
import { nextTurn } from "../../base/turns/event-loop.ts";
import { checkOrRepair } from "../arguments/check-or-repair.ts";
import type { RunningEngine } from "../engine.ts";
import { failed, neverStarted, type Outcome } from "../outcome.ts";
import type { CheckedCall, RunningCall } from "../running-call.ts";
import { isPastDeadline, LONGEST_TIMER_MS } from "./deadline.ts";
import type { CalledTool } from "./find-tool.ts";

/** Checks the breaker, the arguments and the deadline. Sets the limits of the call. */
export async function checkCall(
  running: RunningCall,
  { tool, handler, given }: CalledTool,
  engine: RunningEngine,
): Promise<CheckedCall | Outcome> {
  const { call, ids } = running;
  const refusal = engine.admissions.refusal(tool);
  if (refusal !== undefined) return refusal;

  const checked =
    call.checkArguments === false
      ? { valid: true as const, arguments: given }
      : await checkOrRepair(tool, given, ids, engine);
  if (!checked.valid) return failed(checked.error);
  if (running.isLarge === true) await nextTurn();

  const { settings, clock } = engine;
  const ensemble = tool.ensemble === undefined ? undefined : engine.ensembleSettings(tool.ensemble);
  const { isTask = false, canBeAsked = false } = call.request ?? {};
  const ofEnsemble = isTask ? ensemble?.taskTimeoutMs : canBeAsked ? ensemble?.askingTimeoutMs : undefined;
  const timeoutMs = call.timeoutMs ?? tool.timeoutMs ?? ofEnsemble ?? ensemble?.timeoutMs ?? settings.defaultTimeoutMs;
  const { signal, deadline } = call;
  const limits = { clock, timeoutMs: Math.min(timeoutMs, LONGEST_TIMER_MS), signal, deadline };
  if (isPastDeadline(limits)) return neverStarted(tool, limits, "its arguments to be checked");
  const maxAttempts = Math.max(1, call.retryCount || (ensemble?.maxRetries ?? settings.maxRetries));
  const request: AegisRequest = {
    tool,
    arguments: checked.arguments,
    principal: running.principal,
    traceId: ids.traceId,
    requireConfirmation: call.requireConfirmation === true,
    ...(call.confirmationId !== undefined && { confirmationId: call.confirmationId }),
    ...(call.toolset !== undefined && { toolset: call.toolset }),
    ...(ensemble?.guardsEgress === true && { guardsEgress: true }),
    ...(running.isLarge === true && { isLarge: true }),
  };
  return { ...running, tool, handler, ensemble, limits, maxAttempts, request };
}
