import { setNewest } from "../../base/remember.ts";

/** Callers whose use is remembered; beyond it those seen longest ago are forgotten. */
const MOST_CALLERS = 1_000;

/** Adds up the processor time of each caller's programs, and forgets it at a steady rate. Times are in milliseconds. */
export function createRecentUse({
  most,
  forgottenPerSecond,
}: {
  readonly most: number;
  readonly forgottenPerSecond: number;
}) {
  const used = new Map<string, { readonly ms: number; readonly at: number }>();
  function remembered(caller: string, now: number): number {
    const { ms = 0, at = now } = used.get(caller) ?? {};
    return Math.max(0, ms - ((now - at) / 1_000) * forgottenPerSecond);
  }
  return {
    add(caller: string, ms: number, now: number): void {
      setNewest(used, caller, { ms: remembered(caller, now) + ms, at: now }, MOST_CALLERS);
    },
    /** True if the caller's programs computed for more than `most` lately. */
    isHeavy: (caller: string, now: number): boolean => remembered(caller, now) > most,
  };
}
