import type { AegisRequest } from "../guard/aegis.ts";
import type { Idempotency, KeyedCall, Once } from "../guard/idempotency.ts";
import { timeLeftMs, type WaitLimits } from "./deadline.ts";
import { cancelled, failed, neverStarted, type Outcome } from "./outcome.ts";
import { mayRetry } from "./retry.ts";

/** What running a call once for its key needs. */
export interface KeyedRun {
  readonly request: AegisRequest;
  readonly idempotencyKey: string;
  readonly limits: WaitLimits;
  readonly maxAttempts: number;
  readonly idempotency: Idempotency | undefined;
}

/** Added to the longest a run can take, so that a process that is merely slow is not taken for dead. */
const LEASE_SLACK_MS = 60_000;

/** Runs a call that names an idempotency key, or gives what the call that had the key before gave. */
export async function runOnce(keyed: KeyedRun, run: () => Promise<Outcome>): Promise<Outcome> {
  const { request, idempotency, limits, maxAttempts } = keyed;
  if (idempotency === undefined) return failed(keepsNoKeys());
  const once = await idempotency.once<Outcome>(toCall(keyed), {
    waitMs: timeLeftMs(limits),
    signal: limits.signal,
    // The wait for its turn, then every attempt and the wait before the next.
    leaseMs: limits.timeoutMs * (2 * maxAttempts + 1) + LEASE_SLACK_MS,
    async run() {
      const outcome = await run();
      const { error, attempts = 0 } = outcome;
      return { value: outcome, final: attempts > 0 && !(error !== undefined && mayRetry(request.tool, error)) };
    },
  });
  return toOutcome(once, keyed);
}

/**
 * The result of the earlier call with the same key, where the guard refuses this one only because that one used the approval up: whoever lost
 * the answer of an approved call gets it by repeating the call.
 */
export async function recallResult(refused: Outcome, keyed: KeyedRun): Promise<Outcome> {
  if (refused.error?.code !== "APPROVAL_INVALID" || keyed.idempotency === undefined) return refused;
  const { limits } = keyed;
  const waiting = { waitMs: timeLeftMs(limits), signal: limits.signal };
  const earlier = await keyed.idempotency.recall<Outcome>(toCall(keyed), waiting);
  return earlier === undefined || earlier.kind === "conflict" ? refused : toOutcome(earlier, keyed);
}

function toCall({ request: { tool, principal, arguments: args }, idempotencyKey }: KeyedRun): KeyedCall {
  return { tool, principal, arguments: args, idempotencyKey };
}

function toOutcome(once: Once<Outcome>, { request: { tool }, idempotencyKey, limits }: KeyedRun): Outcome {
  switch (once.kind) {
    case "ran":
      return once.value;
    case "replayed": {
      // The times and attempts are the earlier call's, and so is the answer, which this call's rules were not applied to.
      const { startedAt: _startedAt, attempts: _attempts, answer: _answer, ...outcome } = once.value;
      return { ...outcome, replayed: true };
    }
    case "conflict": {
      const fix = "Give each call a key of its own; repeat a key only with exactly the same arguments.";
      const message = `The idempotency key "${idempotencyKey}" was used for ${tool.id} with other arguments. ${fix}`;
      return failed({ code: "IDEMPOTENCY_CONFLICT", message, field: "idempotencyKey", value: idempotencyKey, fix });
    }
    case "unknown": {
      const fix = "Check whether it took effect, then call it with a new key.";
      const message = `The call of ${tool.id} with the idempotency key "${idempotencyKey}" was begun, and its end was never told. ${fix}`;
      return failed({ code: "OUTCOME_UNKNOWN", message, fix });
    }
    case "running":
      return limits.signal?.aborted
        ? cancelled(tool.id, limits.signal)
        : neverStarted(tool, limits, "the call with the same idempotency key");
  }
}

function keepsNoKeys(): { readonly code: "CALL_INVALID"; readonly message: string; readonly field: string } {
  return {
    code: "CALL_INVALID",
    message: "This engine keeps no idempotency keys. Make the call without idempotencyKey.",
    field: "idempotencyKey",
  };
}
