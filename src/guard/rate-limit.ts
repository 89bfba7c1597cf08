import type { Clock } from "../observe/clock.ts";

/** Holds calls to a number a minute, for each key apart. */
export interface RateLimiter {
  /** Takes one call. What is refused is not counted, and can succeed after `retryAfterMs` whole milliseconds. */
  take(key: string, limitPerMinute: number): Admission;
  /** Keys with a call in the last minute, and a few that have not been forgotten yet. */
  readonly size: number;
  /** Calls whose time is kept, over all keys. */
  readonly remembered: number;
}

export type Admission = { readonly admitted: true } | { readonly admitted: false; readonly retryAfterMs: number };

const WINDOW_MS = 60_000;
const ADMITTED: Admission = { admitted: true };

/**
 * Admits at most the limit in any 60 seconds, wherever they begin, and refuses nothing while the last 60 seconds have room. A token
 * bucket cannot do both: its burst and its refill together admit twice the limit in the first minute. So the times of the admitted calls
 * are kept, at most as many as the limit.
 */
export function createRateLimiter({ clock }: { readonly clock: Clock }): RateLimiter {
  // In order of last use, so that idle keys come first and are found without a search.
  const logs = new Map<string, CallLog>();

  function forgetIdle(now: number): void {
    // Two at most, so that a call costs the same however many are idle; two go for each that comes.
    let checked = 0;
    for (const [key, log] of logs) {
      if (checked++ === 2 || log.newest() + WINDOW_MS > now) return;
      logs.delete(key);
    }
  }

  return {
    take(key, limitPerMinute) {
      if (limitPerMinute === Number.POSITIVE_INFINITY) return ADMITTED;
      const limit = Math.max(1, Math.floor(limitPerMinute));
      const now = clock.now();
      forgetIdle(now);
      const log = logs.get(key) ?? createCallLog();
      const retryAfterMs = log.waitFor(limit, now);
      if (retryAfterMs > 0) return { admitted: false, retryAfterMs };
      log.add(now);
      logs.delete(key);
      logs.set(key, log);
      return ADMITTED;
    },
    get size() {
      return logs.size;
    },
    get remembered() {
      return [...logs.values()].reduce((sum, log) => sum + log.size(), 0);
    },
  };
}

interface CallLog {
  /** Milliseconds until the last minute has room for one call more; 0 where it has now. */
  waitFor(limit: number, now: number): number;
  add(now: number): void;
  newest(): number;
  size(): number;
}

/** The times of the last minute's calls, in a ring that grows to what is used. */
function createCallLog(): CallLog {
  let times = new Float64Array(8);
  let first = 0;
  let count = 0;
  const at = (index: number): number => times[(first + index) % times.length] ?? 0;

  function grow(): void {
    const larger = new Float64Array(times.length * 2);
    for (let index = 0; index < count; index++) larger[index] = at(index);
    times = larger;
    first = 0;
  }

  return {
    waitFor(limit, now) {
      for (let dropped = 0; dropped < 2 && count > 0 && at(0) + WINDOW_MS <= now; dropped++) {
        first = (first + 1) % times.length;
        count--;
      }
      if (count < limit) return 0;
      // The limit may have shrunk since: then more than the oldest call must leave the window.
      return Math.max(0, Math.ceil(at(count - limit) + WINDOW_MS - now));
    },
    add(now) {
      if (count === times.length) grow();
      times[(first + count) % times.length] = now;
      count++;
    },
    newest: () => at(count - 1),
    size: () => count,
  };
}
