import { setNewest } from "../../base/remember.ts";

/** Callers who ran nothing for longest are forgotten first. */
const MOST_CALLERS = 1_000;

/** Adds up the processor time of each caller's programs. The sum decays at a steady rate. Times are in milliseconds. */
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
    /** Returns true if the caller's recent processor time is more than `most`. */
    isHeavy: (caller: string, now: number): boolean => remembered(caller, now) > most,
  };
}
