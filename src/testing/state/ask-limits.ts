import assert from "node:assert/strict";
import type { Admission, AdmitRequest, CallOutcome, Limits, Pass } from "../../state/limits.port.ts";

/** A time later than all times in the cases, in milliseconds. */
export const FAR = 600_000;
export const BREAKER = { key: "tool", threshold: 3, coolDownMs: 1_000 };

type LimitsHandle = { readonly limits: Limits };
type AdmitWish = Partial<AdmitRequest>;

export async function admit({ limits }: LimitsHandle, wanted: AdmitWish, signal?: AbortSignal): Promise<Admission> {
  return limits.admit({ holdMs: FAR, ...wanted }, signal && { signal });
}

export async function admitted(state: LimitsHandle, wanted: AdmitWish): Promise<Pass> {
  const admission = await admit(state, wanted);
  assert.ok(admission.admitted, `refused: ${JSON.stringify(admission)}`);
  return admission.pass;
}

export async function refused(state: LimitsHandle, wanted: AdmitWish, because: string): Promise<void> {
  assert.partialDeepStrictEqual(await admit(state, wanted), { admitted: false, because });
}

export async function run(state: LimitsHandle, wanted: AdmitWish, outcome: CallOutcome): Promise<object> {
  return state.limits.release(await admitted(state, wanted), outcome);
}

export async function openBreaker(state: LimitsHandle): Promise<void> {
  for (let failure = 0; failure < BREAKER.threshold; failure++) await run(state, { breaker: BREAKER }, "failure");
}
