import assert from "node:assert/strict";
import type { Admission, AdmitRequest, CallOutcome, Limits, Pass } from "../../state/limits.port.ts";
import type { TwoHandles } from "./backend.ts";

export type Claims = Readonly<Record<string, (handles: TwoHandles) => Promise<void>>>;

/** Later than anything in a case. */
export const FAR = 600_000;
export const BREAKER = { key: "tool", threshold: 3, coolDownMs: 1_000 };

type Wanted = Partial<AdmitRequest>;

export async function admit(
  state: { readonly limits: Limits },
  wanted: Wanted,
  { now }: { now(): number },
): Promise<Admission> {
  return state.limits.admit({ heldUntil: now() + FAR, ...wanted });
}

export async function admitted(
  state: { readonly limits: Limits },
  wanted: Wanted,
  clock: { now(): number },
): Promise<Pass> {
  const admission = await admit(state, wanted, clock);
  assert.ok(admission.admitted, `refused: ${JSON.stringify(admission)}`);
  return admission.pass;
}

export async function refused(
  state: { readonly limits: Limits },
  wanted: Wanted,
  clock: { now(): number },
  because: string,
): Promise<void> {
  assert.partialDeepStrictEqual(await admit(state, wanted, clock), { admitted: false, because });
}

export async function run(
  state: { readonly limits: Limits },
  wanted: Wanted,
  clock: { now(): number },
  outcome: CallOutcome,
): Promise<object> {
  return state.limits.release(await admitted(state, wanted, clock), outcome);
}

export async function openBreaker(state: { readonly limits: Limits }, clock: { now(): number }): Promise<void> {
  for (let failure = 0; failure < BREAKER.threshold; failure++)
    await run(state, { breaker: BREAKER }, clock, "failure");
}

export function clockTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

export async function clockTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await clockTurn();
}
