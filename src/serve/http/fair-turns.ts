import { callerKey, type Holder } from "../../base/shares.ts";

/** The clock that measures turns. Tests replace it. */
export interface TurnTimes {
  /** Milliseconds with fractions, from a monotonic clock. */
  now(): number;
  /** Returns the share of the time since the last call in which the event loop was busy, in [0, 1]. */
  load(): number;
  /** Calls back when all work that is due now has run. */
  afterThisTurn(callback: () => void): void;
  after(ms: number, callback: () => void): void;
}

/** A caller may be ahead of its share by this much, so bursts of ordinary requests never wait. */
const AHEAD_MS = 50;
/** No caller waits while the event loop is less busy than this. */
const BUSY = 0.6;
const LOOK_EVERY_MS = 100;
/** A caller counts as active for this long after its last request. */
const ACTIVE_MS = 1_000;
const RELEASE_EVERY_MS = 5;
/** The number of requests that start together when the event loop becomes idle again. */
const RELEASED_AT_ONCE = 4;
const MOST_WAITING = 256;
/** The estimated time for a body that is not read yet: 12 ms per mebibyte. */
const MS_PER_BYTE = 12 / (1024 * 1024);

/** The decision about a request: it may run now, must wait, or is refused. */
export type Turn = "now" | "refused" | Promise<void>;

export type FairTurns = ReturnType<typeof createFairTurns>;

interface Caller {
  /** Event loop time that the caller has used beyond its share, in milliseconds. It shrinks over time. */
  aheadMs: number;
  /** The time at which `aheadMs` was last updated. */
  at: number;
  lastAt: number;
  readonly waiting: { readonly bytes: number; readonly go: () => void }[];
}

/**
 * Divides the time of the event loop between remote callers. While the loop is busy, only callers that used more than an equal share wait. Otherwise
 * no caller waits.
 */
export function createFairTurns(times: TurnTimes = machineTimes()) {
  const callers = new Map<string, Caller>();
  let turn: { readonly startedAt: number; readonly callers: Caller[] } | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isBusy = false;
  let active = 1;
  let releasing = false;

  function look(now: number): void {
    if (now - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = now;
    isBusy = times.load() >= BUSY;
    active = 0;
    for (const [key, caller] of callers) {
      if (now - caller.lastAt < ACTIVE_MS || caller.waiting.length > 0) active++;
      else if (update(caller, now) === 0) callers.delete(key);
    }
    active = Math.max(1, active);
  }

  function update(caller: Caller, now: number): number {
    caller.aheadMs = Math.max(0, caller.aheadMs - (now - caller.at) / active);
    caller.at = now;
    return caller.aheadMs;
  }

  const mayGo = (caller: Caller, now: number): boolean => !isBusy || active === 1 || update(caller, now) <= AHEAD_MS;

  /** Charges a caller for its work in this turn of the event loop. */
  function start(caller: Caller, bytes: number, now: number): void {
    caller.aheadMs += bytes * MS_PER_BYTE;
    if (turn !== undefined) return void turn.callers.push(caller);
    turn = { startedAt: now, callers: [caller] };
    times.afterThisTurn(endTurn);
  }

  function endTurn(): void {
    if (turn === undefined) return;
    const each = (times.now() - turn.startedAt) / turn.callers.length;
    for (const caller of turn.callers) caller.aheadMs += each;
    turn = undefined;
  }

  function release(): void {
    releasing = false;
    const now = times.now();
    look(now);
    let waiting = false;
    const most = isBusy ? 1 : RELEASED_AT_ONCE;
    for (const caller of callers.values()) {
      for (let count = 0; count < most && caller.waiting.length > 0 && mayGo(caller, now); count++) {
        const next = caller.waiting.shift();
        if (next === undefined) break;
        start(caller, next.bytes, now);
        next.go();
      }
      waiting ||= caller.waiting.length > 0;
    }
    if (waiting) releaseLater();
  }

  function releaseLater(): void {
    if (releasing) return;
    releasing = true;
    times.after(RELEASE_EVERY_MS, release);
  }

  function callerOf(holder: Holder, now: number): Caller {
    const key = callerKey(holder);
    let caller = callers.get(key);
    if (caller === undefined) callers.set(key, (caller = { aheadMs: 0, at: now, lastAt: now, waiting: [] }));
    return caller;
  }

  return {
    /** Takes a turn for a request. `bytes` is the size of its body. */
    take(holder: Holder, bytes = 0): Turn {
      const now = times.now();
      look(now);
      const caller = callerOf(holder, now);
      caller.lastAt = now;
      if (caller.waiting.length === 0 && mayGo(caller, now)) {
        start(caller, bytes, now);
        return "now";
      }
      if (caller.waiting.length >= MOST_WAITING) return "refused";
      releaseLater();
      return new Promise((go) => caller.waiting.push({ bytes, go }));
    },
    /** Charges a caller for time in a later turn of the event loop, in milliseconds. */
    charge(holder: Holder, ms: number): void {
      callerOf(holder, times.now()).aheadMs += ms;
    },
  };
}

function machineTimes(): TurnTimes {
  let last = performance.eventLoopUtilization();
  return {
    now: () => performance.now(),
    load() {
      const current = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(current, last);
      last = current;
      return utilization;
    },
    afterThisTurn: (callback) => void setImmediate(callback),
    after: (ms, callback) => void setTimeout(callback, ms).unref(),
  };
}
