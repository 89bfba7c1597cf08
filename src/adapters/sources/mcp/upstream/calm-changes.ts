import type { Clock } from "../../../../observe/clock.ts";

/** Passes changes on, but no more often than the receiver can handle. */
export interface CalmChanges<Key> {
  changed(key: Key): void;
  /** Forgets what was not passed on yet. */
  close(): void;
}

/** The shortest and the longest time between two changes of one kind that are passed on. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 60_000;

/**
 * Passes the first change on at once. Those that come within a second after it are passed on as one, and while they keep coming, that time
 * doubles up to a minute.
 */
export function createCalmChanges<Key>(clock: Clock, pass: (key: Key) => void): CalmChanges<Key> {
  const waiting = new Map<Key, { again: boolean; cancel: () => void }>();

  function wait(key: Key, ms: number): void {
    const state = { again: false, cancel: clock.after(ms, end, { background: true }) };
    waiting.set(key, state);

    function end(): void {
      waiting.delete(key);
      if (!state.again) return;
      wait(key, Math.min(2 * ms, LONGEST_MS));
      pass(key);
    }
  }

  return {
    changed(key) {
      const state = waiting.get(key);
      if (state !== undefined) state.again = true;
      else {
        wait(key, SHORTEST_MS);
        pass(key);
      }
    },
    close() {
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
