import type { Clock } from "../../observe/clock.ts";

/** Keeps repeated attempts to a share of the calls, so that retries do not finish off what is already struggling. */
export interface RetryBudget {
  /** Counts a call to what the key names. */
  countCall(key: string): void;
  /** Takes one repeated attempt. False where the last minute had its share already. */
  takeRetry(key: string): boolean;
}

/** Repeated attempts a minute that are always allowed, so that a lone call can be retried. */
export const RETRIES_ALWAYS_ALLOWED = 3;

const SECONDS = 60;

/**
 * Allows repeated attempts up to a share of the calls of the last minute, for each key apart; a share of 0 allows none. Counted by the
 * second: a retry counts for up to a second more than its minute and a call for up to a second less, so that no minute has more than its
 * share.
 */
export function createRetryBudget({ share, clock }: { readonly share: number; readonly clock: Clock }): RetryBudget {
  const counts = new Map<string, { readonly calls: Counter; readonly retries: Counter }>();
  const second = (): number => Math.floor(clock.now() / 1_000);

  function countsOf(key: string): { readonly calls: Counter; readonly retries: Counter } {
    let found = counts.get(key);
    if (found === undefined) counts.set(key, (found = { calls: createCounter(), retries: createCounter() }));
    return found;
  }

  return {
    countCall(key) {
      countsOf(key).calls.add(second());
    },
    takeRetry(key) {
      if (share <= 0) return false;
      const now = second();
      const { calls, retries } = countsOf(key);
      const allowed = Math.max(RETRIES_ALWAYS_ALLOWED, Math.floor(share * calls.sum(now - SECONDS + 1, now)));
      if (retries.sum(now - SECONDS, now) >= allowed) return false;
      retries.add(now);
      return true;
    },
  };
}

interface Counter {
  add(second: number): void;
  /** From one second to another, both included, which are at most a minute apart. */
  sum(from: number, to: number): number;
}

/** A count for each of the last seconds, one more than a minute has. */
function createCounter(): Counter {
  const length = SECONDS + 1;
  const counted = new Float64Array(length);
  const seconds = new Float64Array(length).fill(-1);
  return {
    add(second) {
      const place = second % length;
      if (seconds[place] !== second) [seconds[place], counted[place]] = [second, 0];
      counted[place] = (counted[place] ?? 0) + 1;
    },
    sum(from, to) {
      let sum = 0;
      for (let place = 0; place < length; place++) {
        const second = seconds[place] ?? -1;
        if (second >= from && second <= to) sum += counted[place] ?? 0;
      }
      return sum;
    },
  };
}
