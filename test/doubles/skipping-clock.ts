import type { Clock } from "../../src/index.ts";

/** A clock on which every pause is over at once and is noted. A timeout, known by its length, comes only when it is fired. */
export function skippingClock(timeoutMs: number): Clock & {
  readonly pauses: number[];
  readonly timeouts: Set<() => void>;
} {
  let now = 1_000_000;
  const pauses: number[] = [];
  const timeouts = new Set<() => void>();
  return {
    pauses,
    timeouts,
    now: () => now,
    after(ms, callback) {
      if (ms === timeoutMs) {
        timeouts.add(callback);
        return () => timeouts.delete(callback);
      }
      pauses.push(ms);
      now += ms;
      queueMicrotask(callback);
      return () => {};
    },
  };
}
