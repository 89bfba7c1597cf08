import { nextTurn } from "../tool/turns/event-loop.ts";
import type { Aegis, AegisRequest } from "../guard/aegis.ts";
import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import { askAegis, givenUp, type Permission, redeemApproval } from "./steps/ask-aegis.ts";
import { runAttempts } from "./steps/attempts.ts";
import { notAudited } from "./steps/audit-call.ts";
import type { ToolCall } from "./call.ts";
import { checkOrRepair } from "./arguments/check-or-repair.ts";
import { isPastDeadline, LONGEST_TIMER_MS } from "./steps/deadline.ts";
import type { RunningEngine } from "./engine.ts";
import { findTool } from "./steps/find-tool.ts";
import { finishCall } from "./steps/finish-call.ts";
import { guardOutcome, redactReplayed } from "./steps/guard-outcome.ts";
import { cancelled, closedBefore, failed, neverStarted, type Outcome } from "./outcome.ts";
import type { ToolResult } from "./result.ts";
import type { CachePlace } from "./steps/result-cache.ts";
import { recallResult, runOnce } from "./steps/run-once.ts";
import type { CheckedCall, RunningCall } from "./running-call.ts";
import { toResultError } from "./results/to-result-error.ts";
import { isSignal, readArguments, unreadable } from "./steps/validate-call.ts";
import { type Verdict, verdictOf } from "./steps/verdict.ts";

/** Runs one call to its one result. Never rejects. */
export async function runCall(call: ToolCall, engine: RunningEngine): Promise<ToolResult> {
  const { clock, traceIds, localPrincipal } = engine;
  const queuedAt = clock.now();
  const spanId = traceIds.spanId();
  try {
    const given: unknown = call?.traceId;
    const ids = { traceId: typeof given === "string" && given !== "" ? given : traceIds.traceId(), spanId };
    const running: RunningCall = { call, ids, principal: call?.principal ?? localPrincipal, queuedAt, steps: {} };
    return finishCall(running, await outcomeOf(running, engine), engine);
  } catch (error) {
    // The checks read these values again, so a call that throws here has not run.
    const ids = { traceId: traceIds.traceId(), spanId };
    const refused: RunningCall = { call: { toolName: "" }, ids, principal: localPrincipal, queuedAt, steps: {} };
    return finishCall(refused, failed(toResultError(unreadable(error))), engine);
  }
}

/** The steps of a call, in order. Each but the last ends the call with an outcome, or leads to the next. */
async function outcomeOf(running: RunningCall, engine: RunningEngine): Promise<Outcome> {
  try {
    const found = await find(running, engine);
    if ("status" in found) return found;
    const checked = await check(running, found, engine);
    if ("status" in checked) return checked;
    return await runAllowed(checked, engine);
  } catch (error) {
    // The call is invalid, or a part of the arsenal itself threw: the caller still gets the one result it was promised.
    return failed(toResultError(error));
  }
}

interface FoundTool {
  readonly tool: Tool;
  readonly handler: Handler | undefined;
  readonly given: Readonly<Record<string, unknown>>;
}

async function find(running: RunningCall, engine: RunningEngine): Promise<FoundTool | Outcome> {
  const { call, principal } = running;
  if (isSignal(call?.signal) && call.signal.aborted) return cancelled(String(call.toolName), call.signal);
  const { arguments: given, isLarge } = readArguments(call);
  running.isLarge = isLarge;
  const found = await findTool(call.toolName, principal, engine, call);
  if (isLarge) await nextTurn();
  running.audited = engine.audit?.describe(given);
  if (isLarge) await nextTurn();
  if ("error" in found) {
    running.hiddenId = found.hiddenId;
    return failed(found.error);
  }
  running.tool = found.tool;
  call.request?.onFound?.(found.tool);
  return { tool: found.tool, handler: found.handler, given };
}

/** Checks the breaker and the arguments, and sets the limits. */
async function check(running: RunningCall, found: FoundTool, engine: RunningEngine): Promise<CheckedCall | Outcome> {
  const { call, ids } = running;
  const { tool, handler, given } = found;
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
  const ofEnsemble = call.request?.canBeAsked === true ? ensemble?.askingTimeoutMs : undefined;
  const timeoutMs = call.timeoutMs ?? tool.timeoutMs ?? ofEnsemble ?? ensemble?.timeoutMs ?? settings.defaultTimeoutMs;
  const { signal, deadline } = call;
  const limits = { clock, timeoutMs: Math.min(timeoutMs, LONGEST_TIMER_MS), signal, deadline };
  if (isPastDeadline(limits)) return neverStarted(tool, limits, "its arguments to be checked");
  const maxAttempts = Math.max(1, call.retryCount || (ensemble?.maxRetries ?? settings.maxRetries));
  const request: AegisRequest = {
    tool,
    arguments: checked.arguments,
    principal: running.principal,
    requireConfirmation: call.requireConfirmation === true,
    ...(call.confirmationId !== undefined && { confirmationId: call.confirmationId }),
    ...(call.toolset !== undefined && { toolset: call.toolset }),
    ...(ensemble?.guardsEgress === true && { guardsEgress: true }),
    ...(running.isLarge === true && { isLarge: true }),
  };
  return { ...running, tool, handler, ensemble, limits, maxAttempts, request };
}

/** Checks the call with the guard, and runs it if it is allowed: once for its idempotency key, if it has one. */
async function runAllowed(checked: CheckedCall, engine: RunningEngine): Promise<Outcome> {
  const { request } = checked;
  const isKeyed = checked.call.idempotencyKey !== undefined;
  for (;;) {
    const askedAt = engine.clock.now();
    const permission = await askAegis(checked, engine);
    if (checked.isLarge === true) await nextTurn();
    checked.steps.policy = { startedAt: askedAt, durationMs: engine.clock.now() - askedAt };
    if (permission.effect === "stop")
      return isKeyed ? recallResult(permission.outcome, checked, engine) : permission.outcome;
    const { confirmationId } = permission;
    const rates = engine.aegis.limitsOf(request, permission.obligations);
    const place = isKeyed ? undefined : engine.results?.placeOf(checked, permission);
    const kept = place?.read();
    if (kept !== undefined)
      return allowedBy(permission, checked.tool, await giveKept(kept, checked, permission, rates, engine));
    // A replayed result is a call too, so a call with a key is counted before the engine knows whether it runs.
    const limited = isKeyed ? await engine.admissions.takeRates(checked, rates) : undefined;
    if (limited !== undefined) return limited;
    const approved = confirmationId === undefined ? checked : { ...checked, request: { ...request, confirmationId } };
    const run = (): Promise<Outcome> => runInTurn(approved, permission, isKeyed ? [] : rates, engine, place);
    const outcome = await (isKeyed ? runOnce(checked, engine, run) : run());
    // An identical call at the same moment may have used up the approval that the guard found. Then this call requests its own.
    const lostApproval = outcome.error?.code === "APPROVAL_INVALID" && !outcome.attempts;
    if (approved === checked || !lostApproval) return allowedBy(permission, checked.tool, outcome);
  }
}

/** The outcome of a call that ran, with the rule that let it. An earlier result that is given again is held to what the rules demand now. */
function allowedBy({ rule, obligations }: Permission, tool: Tool, outcome: Outcome): Outcome {
  const { redact } = obligations ?? {};
  const isReplayed = outcome.replayed === true;
  const kept = isReplayed && redact !== undefined ? redactReplayed(outcome, tool, redact) : outcome;
  const ran = isReplayed || outcome.cached === true || (outcome.attempts ?? 0) > 0;
  return ran && rule !== undefined && kept.rule === undefined ? { ...kept, rule } : kept;
}

/** Returns a cached result. It is counted, guarded and audited like a fresh one, but does not wait for its turn or affect the tool's health. */
async function giveKept(
  kept: Outcome,
  checked: CheckedCall,
  { obligations }: Permission,
  rates: ReturnType<Aegis["limitsOf"]>,
  engine: RunningEngine,
): Promise<Outcome> {
  const { tool, limits } = checked;
  const { aegis, settings } = engine;
  const { maxResultBytes } = settings;
  const problem = await engine.audit?.refusal(checked.call.toolset);
  if (problem !== undefined) return notAudited(tool, problem);
  const limited = await engine.admissions.takeRates(checked, rates);
  if (limited !== undefined) return limited;
  if (engine.closed) return closedBefore(tool);
  return givenUp(tool, limits) ?? guardOutcome(kept, undefined, { tool, obligations, aegis, maxResultBytes });
}

/** Takes what the call needs, waits for its turn, runs it, and books how it went. */
async function runInTurn(
  checked: CheckedCall,
  permission: Permission,
  rates: ReturnType<Aegis["limitsOf"]>,
  engine: RunningEngine,
  place: CachePlace | undefined,
): Promise<Outcome> {
  const { tool, call } = checked;
  const unaudited = engine.audit?.refusal(call.toolset);
  const problem = unaudited === undefined ? undefined : await unaudited;
  if (problem !== undefined) return notAudited(tool, problem);

  const enteredAt = engine.clock.now();
  const entered = engine.admissions.enter(checked, rates);
  const pass = entered instanceof Promise ? await entered : entered;
  checked.steps.queue = { startedAt: enteredAt, durationMs: engine.clock.now() - enteredAt };
  if ("status" in pass) return pass;
  let verdict: Verdict = "neutral";
  try {
    if (engine.closed) return closedBefore(tool);
    const ran = await runNow(checked, permission, engine, place);
    ({ verdict } = ran);
    return ran.outcome;
  } finally {
    const left = engine.admissions.leave(tool, pass, verdict);
    if (left !== undefined) await left;
  }
}

/** The call's turn has come: uses its approval up and runs it. */
async function runNow(
  checked: CheckedCall,
  { obligations }: Permission,
  engine: RunningEngine,
  place: CachePlace | undefined,
): Promise<{ readonly outcome: Outcome; readonly verdict: Verdict }> {
  const { tool, request, limits } = checked;
  const { health, aegis, settings } = engine;
  const stopped = await redeemApproval(request, limits, aegis);
  if (stopped !== undefined) return { outcome: stopped, verdict: "neutral" };
  const late = givenUp(tool, limits);
  if (late !== undefined) {
    // Given up while the approval was being used up: it is left good.
    await aegis.giveBack(request);
    return { outcome: late, verdict: "neutral" };
  }
  const run = () => runAttempts(checked, engine);
  const { outcome, told, lastAttemptMs } = await (obligations?.egress === undefined
    ? run()
    : aegis.confine(obligations.egress, run));
  const verdict = verdictOf(outcome);
  if (verdict === "success") health.recordSuccess(tool.id, lastAttemptMs);
  if (verdict === "failure" || verdict === "reported") health.recordFailure(tool.id, lastAttemptMs);
  engine.results?.noteRun(tool);
  const { maxResultBytes } = settings;
  const guarding = guardOutcome(outcome, told, { tool, obligations, aegis, maxResultBytes });
  const guarded = guarding instanceof Promise ? await guarding : guarding;
  if (guarded.status === "success") place?.keep(outcome);
  return { outcome: guarded, verdict };
}
