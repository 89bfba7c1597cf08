import type { Aegis, AegisDecision, AegisRequest, CallAdmission } from "../../guard/aegis.ts";
import type { Tool } from "../../tool/tool.ts";
import { isPastDeadline, untilEnd, type WaitLimits } from "./deadline.ts";
import { cancelled, failed, neverStarted, type Outcome } from "../outcome.ts";
import { toResultError } from "../results/to-result-error.ts";

/** The guard's leave to run, with the rule that gives it and what the rule demands. */
export type Permission = Extract<AegisDecision, { readonly effect: "allow" }>;

/** Passes a call by the guard and takes it from its limits: the permission, or how the call ends without one. */
export async function askAegis(
  request: AegisRequest,
  limits: WaitLimits,
  aegis: Aegis,
): Promise<Permission | { readonly effect: "stop"; readonly outcome: Outcome }> {
  const { tool } = request;
  const decided = await untilEnd(aegis.decide(request), limits);
  if (decided.kind === "cancelled") return stop(cancelled(tool.id, limits.signal));
  if (decided.kind === "timeout") return stop(neverStarted(tool, limits, "the policy's decision"));
  if (decided.kind === "thrown") {
    const { message } = toResultError(decided.error);
    return stop(
      failed({ code: "PERMISSION_DENIED", message: `${tool.id} is refused, since the guard failed: ${message}` }),
    );
  }
  const decision = decided.value;
  if (decision.effect !== "allow") return stop(stoppedBy(decision));
  const admission = aegis.admit(request, decision.obligations);
  return admission.admitted ? decision : stop(limited(request, admission));
}

/** Asks the guard for the last time, which uses up the approval a call names: undefined where it may run now. */
export async function redeemApproval(
  request: AegisRequest,
  limits: WaitLimits,
  aegis: Aegis,
): Promise<Outcome | undefined> {
  // A call that was given up while it waited will not run, so it keeps its approval.
  const late = givenUp(request.tool, limits);
  if (late !== undefined) return late;
  const decision = await aegis.redeem(request);
  return decision.effect === "allow" ? undefined : stoppedBy(decision);
}

/** How a call ends that was cancelled, or whose deadline came, before it ran; undefined where neither has happened. */
export function givenUp(tool: Tool, limits: WaitLimits): Outcome | undefined {
  if (limits.signal?.aborted) return cancelled(tool.id, limits.signal);
  return isPastDeadline(limits) ? neverStarted(tool, limits, "its turn") : undefined;
}

function stop(outcome: Outcome): { readonly effect: "stop"; readonly outcome: Outcome } {
  return { effect: "stop", outcome };
}

function stoppedBy(decision: Exclude<AegisDecision, Permission>): Outcome {
  const named = decision.rule === undefined ? {} : { rule: decision.rule };
  if (decision.effect === "deny") {
    return { status: "permission_denied", error: { code: decision.code, message: decision.reason }, ...named };
  }
  const { confirmationId, reason, command } = decision;
  const how = command === undefined ? `The approval's id is ${confirmationId}.` : `The user approves with: ${command}`;
  const fix = `Ask the user to approve this call, then make the same call again. ${how}`;
  const error = { code: "CONFIRMATION_REQUIRED", message: `${reason} ${fix}`, fix } as const;
  return { status: "pending_confirmation", confirmationId, error, ...named };
}

function limited({ tool }: AegisRequest, refused: Extract<CallAdmission, { readonly admitted: false }>): Outcome {
  const { retryAfterMs, limit } = refused;
  const each = limit.windowMs === 60_000 ? "a minute" : `in ${limit.windowMs / 1_000} s`;
  const allowed = `the limit of ${limit.name} allows ${Math.max(1, Math.floor(limit.calls))} ${each}`;
  const message = `${tool.id} was not called: ${allowed}. Try again in ${retryAfterMs} ms.`;
  return failed({ code: "RATE_LIMITED", message, retryAfterMs });
}
