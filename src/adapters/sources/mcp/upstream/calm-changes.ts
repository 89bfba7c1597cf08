import type { Clock } from "../../../../observe/clock.ts";

/** Bounds of the interval between two changes of one kind. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 60_000;

/**
 * Passes the first change on at once, and merges the changes of the next second into one. While changes keep arriving, the interval doubles up to a
 * minute.
 */
export function createCalmChanges<Key>(clock: Clock, pass: (key: Key) => void) {
  const waiting = new Map<Key, { again: boolean; readonly cancel: () => void }>();

  function passAndWait(key: Key, ms: number): void {
    const state = { again: false, cancel: clock.after(ms, end, { background: true }) };
    waiting.set(key, state);
    pass(key);

    function end(): void {
      waiting.delete(key);
      if (state.again) passAndWait(key, Math.min(2 * ms, LONGEST_MS));
    }
  }

  return {
    changed(key: Key): void {
      const state = waiting.get(key);
      if (state === undefined) passAndWait(key, SHORTEST_MS);
      else state.again = true;
    },
    close(): void {
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
