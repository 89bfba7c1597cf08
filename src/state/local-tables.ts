import type { Breaker, LimitTables } from "./limit-rules.ts";
import type { BreakerChange } from "./limits.port.ts";

/** The number of passes between two removals of expired passes. */
const PASSES_A_SWEEP = 1_024;

/** The tables of one process, in memory. Calls `onBreaker` for every breaker that opens or closes. */
export function createLocalTables(onBreaker: (change: BreakerChange) => void): LimitTables & {
  /** Returns when the first held pass expires; undefined if none is held. */
  firstEnd(now: number): number | undefined;
  open(): readonly BreakerChange[];
  readonly size: { readonly windows: number; readonly calls: number; readonly places: number };
} {
  // By window length, then by key in order of last use, so that idle keys are first.
  const windows = new Map<number, Map<string, CallLog>>();
  /** The most recently used key of each window length. */
  const newest = new Map<number, string>();
  /** By slot key, the expiry of each pass that holds a slot. Passes without a slot are under the empty key, so that they cannot be released twice. */
  const holders = new Map<string, Map<string, number>>();
  const breakers = new Map<string, Breaker>();
  const budgets = new Map<string, Record<"calls" | "retries", ReturnType<typeof createCounter>>>();
  const quotas = new Map<string, { readonly total: number; readonly until: number }>();
  let held = 0;
  let era = 0;

  function holdersOf(key: string): Map<string, number> {
    let ids = holders.get(key);
    if (ids === undefined) holders.set(key, (ids = new Map<string, number>()));
    return ids;
  }

  /** Removes unused keys, because each caller adds its own. */
  function sweep(now: number): void {
    for (const [key, ids] of holders) {
      dropEnded(ids, now);
      if (ids.size === 0) holders.delete(key);
    }
    for (const [key, { until }] of quotas) if (until <= now) quotas.delete(key);
  }

  return {
    nthNewest: ({ key, windowMs }, n, now) => windows.get(windowMs)?.get(key)?.nthNewest(n, windowMs, now),
    addCall({ key, windowMs }, now) {
      let logs = windows.get(windowMs);
      if (logs === undefined) windows.set(windowMs, (logs = new Map<string, CallLog>()));
      forgetIdle(logs, windowMs, now);
      const known = logs.get(key);
      const log = known ?? createCallLog();
      log.add(now);
      // Checking whether an entry is already the newest is faster than moving it.
      if (known !== undefined && newest.get(windowMs) === key) return;
      newest.set(windowMs, key);
      logs.delete(key);
      logs.set(key, log);
    },
    isFull(key, limit, now) {
      const ids = holders.get(key);
      if (ids === undefined || ids.size < limit) return false;
      dropEnded(ids, now);
      return ids.size >= limit;
    },
    hold(id, places, until, now) {
      if (++held % PASSES_A_SWEEP === 0) sweep(now);
      if (places.length === 0) holdersOf("").set(id, until);
      for (const { key } of places) holdersOf(key).set(id, until);
    },
    letGo(id, places, now) {
      const until = holders.get(places[0]?.key ?? "")?.get(id);
      if (until === undefined) return false;
      if (places.length === 0) holders.get("")?.delete(id);
      for (const { key } of places) holders.get(key)?.delete(id);
      return until > now;
    },
    firstEnd(now) {
      let first: number | undefined;
      for (const ids of holders.values()) {
        dropEnded(ids, now);
        for (const until of ids.values()) if (first === undefined || until < first) first = until;
      }
      return first;
    },
    addUse({ key, amount, keepMs }, now) {
      const before = quotas.get(key);
      const total = (before === undefined || before.until <= now ? 0 : before.total) + amount;
      quotas.set(key, { total, until: now + keepMs });
      return total;
    },
    breaker: (key) => breakers.get(key),
    setBreaker(key, breaker) {
      const before = breakers.get(key)?.probeAt;
      if (breaker === undefined) breakers.delete(key);
      else breakers.set(key, breaker);
      if (before !== breaker?.probeAt) onBreaker(toChange(key, breaker?.probeAt));
    },
    open: () =>
      [...breakers]
        .filter(([, { probeAt }]) => probeAt !== undefined)
        .map(([key, { probeAt }]) => toChange(key, probeAt)),
    nextEra: () => ++era,
    count(key, what, second) {
      const budget = budgets.get(key) ?? { calls: createCounter(), retries: createCounter() };
      budgets.set(key, budget);
      budget[what].add(second);
    },
    sum: (key, what, from, to) => budgets.get(key)?.[what].sum(from, to) ?? 0,
    get size() {
      const logs = [...windows.values()].flatMap((byKey) => [...byKey.values()]);
      const calls = logs.reduce((sum, log) => sum + log.size(), 0);
      return { windows: logs.length, calls, places: holders.size };
    },
  };
}

function toChange(key: string, probeAt: number | undefined): BreakerChange {
  return probeAt === undefined ? { key } : { key, probeAt };
}

function dropEnded(ids: Map<string, number>, now: number): void {
  for (const [id, until] of ids) if (until <= now) ids.delete(id);
}

/** Removes at most two idle keys, so that a call takes constant time. Two are removed for each key that is added. */
function forgetIdle(logs: Map<string, CallLog>, windowMs: number, now: number): void {
  let checked = 0;
  for (const [key, log] of logs) {
    if (checked++ === 2 || log.newest() + windowMs > now) return;
    logs.delete(key);
  }
}

type CallLog = ReturnType<typeof createCallLog>;

/** The times of the last calls, in a ring buffer that grows as needed. */
function createCallLog() {
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
    nthNewest(n: number, windowMs: number, now: number): number | undefined {
      for (let dropped = 0; dropped < 2 && count > 0 && at(0) + windowMs <= now; dropped++) {
        first = (first + 1) % times.length;
        count--;
      }
      return count < n ? undefined : at(count - n);
    },
    add(now: number) {
      if (count === times.length) grow();
      times[(first + count) % times.length] = now;
      count++;
    },
    newest: () => at(count - 1),
    size: () => count,
  };
}

/** A count for each of the last 61 seconds, one more than a minute. */
function createCounter() {
  const length = 61;
  const counted = new Float64Array(length);
  const seconds = new Float64Array(length).fill(-1);
  return {
    add(second: number) {
      const place = second % length;
      if (seconds[place] !== second) [seconds[place], counted[place]] = [second, 0];
      counted[place] = (counted[place] ?? 0) + 1;
    },
    sum(from: number, to: number): number {
      let sum = 0;
      for (let place = 0; place < length; place++) {
        const second = seconds[place] ?? -1;
        if (second >= from && second <= to) sum += counted[place] ?? 0;
      }
      return sum;
    },
  };
}
