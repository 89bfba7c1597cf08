import type { AdmitWaiting, Aegis, AegisDecision, AegisRequest } from "../../guard/aegis.ts";
import type { Tool } from "../../tool/tool.ts";
import { nextTurn } from "../../base/turns/event-loop.ts";
import { isPastDeadline, untilEndSoon, type WaitLimits } from "./deadline.ts";
import type { RunningEngine } from "../engine.ts";
import { cancelled, failed, neverStarted, type Outcome } from "../outcome.ts";
import { toResultError } from "../results/to-result-error.ts";
import type { CheckedCall } from "../running-call.ts";
import { redactReplayed } from "./guard-outcome.ts";

/** The guard's permission, with the rule that grants it and its obligations. */
export type Permission = Extract<AegisDecision, { readonly effect: "allow" }>;

/** Requests permission for a call. Returns it, or the outcome if the call may not run. A call that waits for approval counts against limits. */
export async function askAegis(
  checked: CheckedCall,
  { aegis, admissions, clock }: RunningEngine,
): Promise<Permission | { readonly effect: "stop"; readonly outcome: Outcome }> {
  const { tool, request, limits } = checked;
  const startedAt = clock.now();
  let limited: Outcome | undefined;
  const admit: AdmitWaiting = async (obligations) => {
    limited = await admissions.takeRates(checked, { rates: aegis.limitsOf(request, obligations) });
    return limited === undefined;
  };
  const decided = await untilEndSoon(aegis.decide(request, admit), limits);
  if (checked.isLarge === true) await nextTurn();
  checked.steps.policy = { startedAt, durationMs: clock.now() - startedAt };
  if (limited !== undefined) return stop(limited);
  if (decided.kind === "cancelled") return stop(cancelled(tool.id, limits.signal));
  if (decided.kind === "timeout") return stop(neverStarted(tool, limits, "the policy's decision"));
  if (decided.kind === "thrown") {
    const message = `${tool.id} is refused because the guard failed: ${toResultError(decided.error).message}`;
    return stop(failed({ code: "PERMISSION_DENIED", message }));
  }
  const decision = decided.value;
  return decision.effect === "allow" ? decision : stop(stoppedBy(decision));
}

/** Returns the call with the approval that the guard found. Returns the same call if there was none. */
export function withApproval(checked: CheckedCall, { confirmationId }: Permission): CheckedCall {
  return confirmationId === undefined ? checked : { ...checked, request: { ...checked.request, confirmationId } };
}

/** Adds the rule that allowed the call to its outcome. Redacts a replayed result according to the current rules. */
export function withRule({ rule, obligations }: Permission, tool: Tool, outcome: Outcome): Outcome {
  const { redact } = obligations ?? {};
  const isReplayed = outcome.replayed === true;
  const redacted = isReplayed && redact !== undefined ? redactReplayed(outcome, tool, redact) : outcome;
  const ran = isReplayed || outcome.cached === true || (outcome.attempts ?? 0) > 0;
  return ran && rule !== undefined && redacted.rule === undefined ? { ...redacted, rule } : redacted;
}

/** Checks the call with the guard a last time, which consumes its approval. Returns undefined if the call may run now. */
export async function redeemApproval(
  request: AegisRequest,
  limits: WaitLimits,
  aegis: Aegis,
): Promise<Outcome | undefined> {
  // A call that was cancelled while it waited does not run, so it keeps its approval.
  const late = givenUp(request.tool, limits);
  if (late !== undefined) return late;
  const decision = await aegis.redeem(request);
  return decision.effect === "allow" ? undefined : stoppedBy(decision);
}

/** Returns the outcome if the call was cancelled, or its deadline passed, before it ran; otherwise undefined. */
export function givenUp(tool: Tool, limits: WaitLimits): Outcome | undefined {
  if (limits.signal?.aborted) return cancelled(tool.id, limits.signal);
  return isPastDeadline(limits) ? neverStarted(tool, limits, "its turn") : undefined;
}

function stop(outcome: Outcome): { readonly effect: "stop"; readonly outcome: Outcome } {
  return { effect: "stop", outcome };
}

function stoppedBy(decision: Exclude<AegisDecision, Permission>): Outcome {
  const named = decision.rule !== undefined && { rule: decision.rule };
  if (decision.effect === "deny")
    return { status: "permission_denied", error: { code: decision.code, message: decision.reason }, ...named };
  const { confirmationId, reason, command } = decision;
  const how = command === undefined ? `The approval's id is ${confirmationId}.` : `The user approves with: ${command}`;
  const fix = `Ask the user to approve this call, then make the same call again. ${how}`;
  const error = { code: "CONFIRMATION_REQUIRED", message: `${reason} ${fix}`, fix } as const;
  return { status: "pending_confirmation", confirmationId, error, ...named };
}
