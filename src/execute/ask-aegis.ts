import type { Aegis, AegisDecision, AegisRequest } from "../guard/aegis.ts";
import { untilEnd, type WaitLimits } from "./deadline.ts";
import { cancelled, failed, neverStarted, type Outcome } from "./outcome.ts";
import { toResultError } from "./to-result-error.ts";

/** Passes a call by the guard and takes it from the rate limit: undefined where it may go on. */
export async function askAegis(request: AegisRequest, limits: WaitLimits, aegis: Aegis): Promise<Outcome | undefined> {
  const { tool } = request;
  const decided = await untilEnd(aegis.decide(request), limits);
  if (decided.kind === "cancelled") return cancelled(tool.id, limits.signal);
  if (decided.kind === "timeout") return neverStarted(tool, limits.timeoutMs, "the policy's decision");
  if (decided.kind === "thrown") {
    const { message } = toResultError(decided.error);
    return failed({ code: "PERMISSION_DENIED", message: `${tool.id} is refused, since the guard failed: ${message}` });
  }
  const stopped = stoppedBy(decided.value);
  if (stopped !== undefined) return stopped;
  const admission = aegis.admit(tool);
  if (admission.admitted) return undefined;
  const { retryAfterMs } = admission;
  const message = `${tool.id} was called more often than its limit allows. Try again in ${retryAfterMs} ms.`;
  return failed({ code: "RATE_LIMITED", message, retryAfterMs });
}

/** Uses up the approval a call names, where it names one: undefined where it may run now. */
export async function redeemApproval(
  request: AegisRequest,
  limits: WaitLimits,
  aegis: Aegis,
): Promise<Outcome | undefined> {
  // A call that was cancelled while it waited will not run, so it keeps its approval.
  if (limits.signal?.aborted) return cancelled(request.tool.id, limits.signal);
  return stoppedBy(await aegis.redeem(request));
}

function stoppedBy(decision: AegisDecision): Outcome | undefined {
  switch (decision.effect) {
    case "deny":
      return {
        status: "permission_denied",
        error: { code: decision.code, message: decision.reason },
        ...named(decision),
      };
    case "confirm": {
      const { confirmationId, reason } = decision;
      const fix = `Have a person approve ${confirmationId}, then make the same call with it as confirmationId.`;
      const error = { code: "CONFIRMATION_REQUIRED", message: `${reason} ${fix}`, fix } as const;
      return { status: "pending_confirmation", confirmationId, error, ...named(decision) };
    }
    case "allow":
      return undefined;
  }
}

function named({ rule }: { readonly rule?: string }): { readonly rule?: string } {
  return rule === undefined ? {} : { rule };
}
