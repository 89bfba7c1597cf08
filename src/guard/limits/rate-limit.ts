import type { Clock } from "../../observe/clock.ts";

/** Holds calls to a number in a span of time, for each key apart. */
export interface RateLimiter {
  /**
   * Takes one call from all of the limits, or from none: what one of them refuses uses nothing of the others up. It can succeed after
   * `retryAfterMs` whole milliseconds.
   */
  take<Limit extends RateLimit>(limits: readonly Limit[]): Admission<Limit>;
  /** Keys with a call in their window, and a few that have not been forgotten yet. */
  readonly size: number;
  /** Calls whose time is kept, over all keys. */
  readonly remembered: number;
}

/** So many calls, at least one, in a span of time, wherever it begins. */
export interface RateLimit {
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
}

/** Whether a call fits; where it does not, the limit that it must wait for the longest. */
export type Admission<Limit extends RateLimit> =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly retryAfterMs: number; readonly limit: Limit };

const ADMITTED: Admission<never> = Object.freeze({ admitted: true });

/**
 * Admits at most the limit in any window, wherever it begins, and refuses nothing while the last window has room. A token bucket cannot do
 * both: its burst and its refill together admit twice the limit in the first window. So the times of the admitted calls are kept, at most as
 * many as the limit.
 */
export function createRateLimiter({ clock }: { readonly clock: Clock }): RateLimiter {
  // By window; within one in order of last use, so that idle keys come first and are found without a search.
  const windows = new Map<number, Map<string, CallLog>>();

  function logsOf(windowMs: number): Map<string, CallLog> {
    let logs = windows.get(windowMs);
    if (logs === undefined) windows.set(windowMs, (logs = new Map<string, CallLog>()));
    return logs;
  }

  function forgetIdle(logs: Map<string, CallLog>, windowMs: number, now: number): void {
    // Two at most, so that a call costs the same however many are idle; two go for each that comes.
    let checked = 0;
    for (const [key, log] of logs) {
      if (checked++ === 2 || log.newest() + windowMs > now) return;
      logs.delete(key);
    }
  }

  return {
    take<Limit extends RateLimit>(limits: readonly Limit[]): Admission<Limit> {
      const now = clock.now();
      let retryAfterMs = 0;
      let tightest: Limit | undefined;
      for (const limit of limits) {
        const { key, calls, windowMs } = limit;
        const wait = windows.get(windowMs)?.get(key)?.waitFor(wholeCalls(calls), windowMs, now) ?? 0;
        if (wait > retryAfterMs) [retryAfterMs, tightest] = [wait, limit];
      }
      if (tightest !== undefined) return { admitted: false, retryAfterMs, limit: tightest };
      for (const { key, calls, windowMs } of limits) {
        if (calls === Number.POSITIVE_INFINITY) continue;
        const logs = logsOf(windowMs);
        forgetIdle(logs, windowMs, now);
        const log = logs.get(key) ?? createCallLog();
        log.add(now);
        logs.delete(key);
        logs.set(key, log);
      }
      return ADMITTED;
    },
    get size() {
      return [...windows.values()].reduce((sum, logs) => sum + logs.size, 0);
    },
    get remembered() {
      const logs = [...windows.values()].flatMap((byKey) => [...byKey.values()]);
      return logs.reduce((sum, log) => sum + log.size(), 0);
    },
  };
}

function wholeCalls(calls: number): number {
  return Math.max(1, Math.floor(calls));
}

interface CallLog {
  /** Milliseconds until the window has room for one call more; 0 where it has now. */
  waitFor(calls: number, windowMs: number, now: number): number;
  add(now: number): void;
  newest(): number;
  size(): number;
}

/** The times of the last calls, in a ring that grows to what is used. */
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
    waitFor(calls, windowMs, now) {
      for (let dropped = 0; dropped < 2 && count > 0 && at(0) + windowMs <= now; dropped++) {
        first = (first + 1) % times.length;
        count--;
      }
      if (count < calls) return 0;
      // The limit may have shrunk since: then more than the oldest call must leave the window.
      return Math.max(0, Math.ceil(at(count - calls) + windowMs - now));
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
