import type { Clock } from "../observe/clock.ts";

/** A clock that moves only when it is advanced. */
export interface ManualClock extends Clock {
  /** Advances the time. Runs every due timer in order, and lets promises settle before, between and after them. */
  advance(ms: number): Promise<void>;
  /** The number of timers that have neither run nor been cancelled. */
  readonly pending: number;
}

/** Creates a clock for tests. `settled` resolves once no work is pending. Defaults to one turn of the event loop. */
export function createManualClock(start = 0, settled: () => Promise<void> = promisesSettled): ManualClock {
  const timers = new Set<{ readonly due: number; readonly callback: () => void }>();
  let now = start;

  /** Returns the first due timer. If several are due at the same time, the one that was set first. */
  const earliest = (until: number) =>
    [...timers].filter(({ due }) => due <= until).sort((one, other) => one.due - other.due)[0];

  return {
    now: () => now,
    after(ms, callback) {
      const timer = { due: now + Math.max(0, ms), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const until = now + ms;
      await settled();
      for (let timer = earliest(until); timer !== undefined; timer = earliest(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.due);
        timer.callback();
        await settled();
      }
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Captured on load, so that a test runner's fake timers cannot stop this clock. */
const nextTurn = setImmediate;

/** Resolves once every promise that can settle now has settled. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => void nextTurn(resolve));
}
