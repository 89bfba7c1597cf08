import type { KeyedCall, Once } from "../../guard/idempotency.ts";
import { isPastDeadline, timeLeftMs } from "./deadline.ts";
import type { EngineParts, RunningEngine } from "../engine.ts";
import { cancelled, failed, type Outcome } from "../outcome.ts";
import type { CallBounds } from "./admission.ts";
import { mayRetry } from "./retry.ts";
import type { CheckedCall } from "../running-call.ts";

/** Runs a call with an idempotency key, or returns the result of the earlier call with that key. */
export async function runOnce(
  checked: CheckedCall,
  bounds: CallBounds,
  { idempotency, admissions }: RunningEngine,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const { tool, limits } = checked;
  // Replays count against limits too, so the call is counted before it is known whether it runs.
  const limited = await admissions.takeRates(checked, bounds);
  if (limited !== undefined) return limited;
  if (idempotency === undefined) {
    const message = "This engine does not support idempotency keys. Make the call without idempotencyKey.";
    return failed({ code: "CALL_INVALID", message, field: "idempotencyKey" });
  }
  const once = await idempotency.once<Outcome>(toKeyed(checked), {
    waitMs: timeLeftMs(limits),
    signal: limits.signal,
    async run() {
      const outcome = await run();
      const { error, status, attempts = 0 } = outcome;
      // A call that waits for approval elsewhere has not run; it runs once it is approved.
      const isOpen = status === "pending_confirmation" || (error !== undefined && mayRetry(tool, error));
      // Times and attempts belong to this call only. So does the answer, to which the rules of later calls were not applied.
      const { startedAt: _startedAt, attempts: _attempts, answer: _answer, ...kept } = outcome;
      return { value: outcome, final: attempts > 0 && !isOpen, kept, brief: status };
    },
  });
  return toOutcome(once, checked);
}

/** Returns the result of an earlier call with the same key if the guard refuses this call only because the earlier one consumed the approval. */
export async function recallResult(
  refused: Outcome,
  checked: CheckedCall,
  { idempotency }: Pick<EngineParts, "idempotency">,
): Promise<Outcome> {
  if (refused.error?.code !== "APPROVAL_INVALID" || idempotency === undefined) return refused;
  const { limits } = checked;
  const waiting = { waitMs: timeLeftMs(limits), signal: limits.signal };
  const earlier = await idempotency.recall<Outcome>(toKeyed(checked), waiting);
  return earlier === undefined || earlier.kind === "conflict" ? refused : toOutcome(earlier, checked);
}

function toKeyed({ tool, principal, request, call }: CheckedCall): KeyedCall {
  return { tool, principal, arguments: request.arguments, idempotencyKey: call.idempotencyKey ?? "" };
}

function toOutcome(once: Once<Outcome>, { tool, call: { idempotencyKey }, limits }: CheckedCall): Outcome {
  switch (once.kind) {
    case "ran":
      return once.value;
    case "replayed":
      return { ...once.value, replayed: true };
    case "dropped": {
      const fix = "Use its effect, or call it with a new key if it may run again.";
      const message = `The call of ${tool.id} with the idempotency key "${idempotencyKey}" ran before (${once.brief}) and was not repeated. Its result was too large to keep, or was evicted. ${fix}`;
      return failed({ code: "RESULT_TOO_LARGE", message, fix });
    }
    case "conflict": {
      const fix = "Give each call its own key; repeat a key only with exactly the same arguments.";
      const message = `The idempotency key "${idempotencyKey}" was used for ${tool.id} with other arguments. ${fix}`;
      return failed({ code: "IDEMPOTENCY_CONFLICT", message, field: "idempotencyKey", value: idempotencyKey, fix });
    }
    case "unknown": {
      const fix = "Check whether it took effect, then call it with a new key.";
      const message = `The call of ${tool.id} with the idempotency key "${idempotencyKey}" started and may have run: its outcome was never recorded, because its process ended. ${fix}`;
      return failed({ code: "OUTCOME_UNKNOWN", message, fix });
    }
    case "running": {
      if (limits.signal?.aborted) return cancelled(tool.id, limits.signal, true);
      const fix = "Repeat it with the same key to get its result.";
      const waited = isPastDeadline(limits) ? "when this call's deadline came" : `after ${limits.timeoutMs} ms`;
      const message = `The call of ${tool.id} with the idempotency key "${idempotencyKey}" was still running ${waited}. ${fix}`;
      return failed({ code: "TIMEOUT", message, fix });
    }
  }
}
