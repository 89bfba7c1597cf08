import { present } from "../base/present.ts";
import type { CallOutcome } from "../state/limits.port.ts";
import { asRecord } from "../tool/json-schema.ts";
import type { ToolCall } from "./call.ts";
import type { RunningEngine } from "./engine.ts";
import { closedBefore, failed, type Outcome } from "./outcome.ts";
import type { ToolResult } from "./result.ts";
import { toResultError } from "./results/to-result-error.ts";
import type { CheckedCall, RunningCall } from "./running-call.ts";
import type { CallBounds } from "./steps/admission.ts";
import { askAegis, givenUp, type Permission, redeemApproval, withApproval, withRule } from "./steps/ask-aegis.ts";
import { runAttempts } from "./steps/attempts.ts";
import { notAudited } from "./steps/audit-call.ts";
import { checkCall } from "./steps/check-call.ts";
import { findCalledTool, findVisible } from "./steps/find-tool.ts";
import { finishCall } from "./steps/finish-call.ts";
import { giveCached } from "./steps/give-cached.ts";
import { guardOutcome } from "./steps/guard-outcome.ts";
import { measured, ofEveryCall, ofRunCalls, spentBy } from "./steps/quotas.ts";
import type { CacheEntry } from "./steps/result-cache.ts";
import { isConfirmedReadOnly } from "./steps/retry.ts";
import { recallResult, runOnce } from "./steps/run-once.ts";
import { unreadable } from "./steps/validate-call.ts";
import { recordHealth, verdictOf } from "./steps/verdict.ts";

/** Runs one call to its result. Never rejects. */
export async function runCall(call: ToolCall, engine: RunningEngine): Promise<ToolResult> {
  const { clock, traceIds, localPrincipal } = engine;
  const queuedAt = clock.now();
  const spanId = traceIds.spanId();
  try {
    const running = started(call, engine, { queuedAt, spanId });
    return finishCall(running, await outcomeOf(running, engine), engine);
  } catch (error) {
    // The checks read these values again, so a call whose properties throw is refused before it runs.
    const ids = { traceId: traceIds.traceId(), spanId };
    const refused: RunningCall = { call: { toolName: "" }, ids, principal: localPrincipal, queuedAt, steps: {} };
    return finishCall(refused, failed(toResultError(unreadable(error))), engine);
  }
}

/**
 * Takes a call up to the guard. Records and returns its result if the call is refused or waits for approval; returns undefined if it may run now.
 * Runs nothing and consumes no approval.
 */
export async function askCall(call: ToolCall, engine: RunningEngine): Promise<ToolResult | undefined> {
  const running = started(call, engine, { queuedAt: engine.clock.now(), spanId: engine.traceIds.spanId() });
  const stopped = await stopOf(running, engine);
  return stopped && finishCall(running, stopped, engine);
}

/** Returns whether the call would wait for approval. Requests no approval and records nothing. */
export async function needsApproval(call: ToolCall, engine: RunningEngine): Promise<boolean> {
  const { principal = engine.localPrincipal, toolset } = call;
  const found = await findVisible(call.toolName, principal, engine, call);
  if (found === undefined) return false;
  const request = { tool: found.tool, arguments: asRecord(call.arguments), principal, ...present({ toolset }) };
  return (await engine.aegis.preview({ ...request, requireConfirmation: false, isLarge: true })).effect === "confirm";
}

function started(
  call: ToolCall,
  { traceIds, localPrincipal }: RunningEngine,
  { queuedAt, spanId }: { readonly queuedAt: number; readonly spanId: string },
): RunningCall {
  const given: unknown = call?.traceId;
  const ids = { traceId: typeof given === "string" && given !== "" ? given : traceIds.traceId(), spanId };
  return { call, ids, principal: call?.principal ?? localPrincipal, queuedAt, steps: {} };
}

async function stopOf(running: RunningCall, engine: RunningEngine): Promise<Outcome | undefined> {
  try {
    const found = await findCalledTool(running, engine);
    if ("status" in found) return found;
    const checked = await checkCall(running, found, engine);
    if ("status" in checked) return checked;
    const permission = await askAegis(checked, engine);
    return permission.effect === "stop" ? permission.outcome : undefined;
  } catch (error) {
    return failed(toResultError(error));
  }
}

/** The steps of a call, in order. Each step ends the call with an outcome or continues with the next. */
async function outcomeOf(running: RunningCall, engine: RunningEngine): Promise<Outcome> {
  try {
    // find the tool
    const found = await findCalledTool(running, engine);
    if ("status" in found) return found;

    // check the breaker, the arguments and the deadline
    const checked = await checkCall(running, found, engine);
    if ("status" in checked) return checked;
    const { tool, request, call } = checked;
    const isKeyed = call.idempotencyKey !== undefined;

    for (;;) {
      // ask the guard
      const permission = await askAegis(checked, engine);
      if (permission.effect === "stop")
        return isKeyed ? await recallResult(permission.outcome, checked, engine) : permission.outcome;
      const rates = engine.aegis.limitsOf(request, permission.obligations);
      const quotas = engine.quotas?.of(tool, checked.principal);
      const bounds = quotas === undefined ? { rates } : { rates, quotas };

      // answer from the cache
      const entry = isKeyed ? undefined : engine.results?.entryOf(checked, permission);
      const cached = entry?.read();
      if (cached !== undefined)
        return withRule(permission, tool, await giveCached(cached, checked, permission, bounds, engine));

      // run it: once per idempotency key, if it has one
      const approved = withApproval(checked, permission);
      const outcome = await (isKeyed
        ? runOnce(checked, ofEveryCall(bounds), engine, () =>
            runPermitted(approved, permission, ofRunCalls(bounds), engine),
          )
        : runPermitted(approved, permission, bounds, engine, entry));

      // A concurrent identical call may have consumed the approval that the guard found. This call then requests its own.
      const lostApproval = outcome.error?.code === "APPROVAL_INVALID" && !outcome.attempts;
      if (approved === checked || !lostApproval) return withRule(permission, tool, outcome);
    }
  } catch (error) {
    // The call is invalid, or the arsenal itself threw. The caller gets a result in any case.
    return failed(toResultError(error));
  }
}

/** The steps of a call that may run, in order. */
async function runPermitted(
  checked: CheckedCall,
  { obligations }: Permission,
  bounds: CallBounds,
  engine: RunningEngine,
  entry?: CacheEntry,
): Promise<Outcome> {
  const { tool, call, limits, request } = checked;
  const { admissions, aegis, settings } = engine;

  // check that the call can be audited
  const auditing = engine.audit?.refusal(call.toolset, !isConfirmedReadOnly(tool));
  const problem = auditing === undefined ? undefined : await auditing;
  if (problem !== undefined) return notAudited(tool, problem);

  // wait for a slot
  const entered = admissions.enter(checked, bounds);
  const pass = entered instanceof Promise ? await entered : entered;
  if ("status" in pass) return pass;
  let verdict: CallOutcome = "neutral";
  let ended: Outcome | undefined;
  try {
    if (engine.closed) return closedBefore(tool);

    // consume its approval, unless the caller cancels meanwhile
    const stopped = await redeemApproval(request, limits, aegis);
    if (stopped !== undefined) return stopped;
    const late = givenUp(tool, limits);
    if (late !== undefined) {
      await aegis.giveBack(request);
      return late;
    }

    // call the handler, within the domains that the rule permits
    const egress = obligations?.egress;
    const { outcome, reported, lastAttemptMs } = await (egress === undefined
      ? runAttempts(checked, engine)
      : aegis.confine(egress, () => runAttempts(checked, engine)));

    // record the outcome for the tool's health
    verdict = verdictOf(outcome);
    recordHealth(engine.health, tool, verdict, lastAttemptMs);
    engine.results?.noteRun(tool);

    // redact, inspect and measure the result
    const { maxResultBytes } = settings;
    const guarding = guardOutcome(outcome, reported, { tool, obligations, aegis, maxResultBytes });
    const guarded = guarding instanceof Promise ? await guarding : guarding;

    // cache it
    if (guarded.status === "success") entry?.keep(outcome);
    return (ended = measured(guarded, checked, engine.quotas));
  } finally {
    // free the slot for the next call
    const left = admissions.leave(tool, pass, verdict, spentBy(bounds.quotas, ended));
    if (left !== undefined) await left;
  }
}
