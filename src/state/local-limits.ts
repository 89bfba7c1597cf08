import type { Clock } from "../observe/clock.ts";
import { releasePass, serveWaiting, takeRetry, tryAdmit } from "./limit-rules.ts";
import type { BreakerChange, Limits } from "./limits.port.ts";
import { createLocalTables } from "./local-tables.ts";
import { createListeners, tellAll } from "./topics.ts";
import { ABORTED, createWaitingCalls } from "./waiting-calls.ts";

/** Node fires much longer timers immediately. */
const LONGEST_WAIT_MS = 3_600_000;

/** Limits of this process only. Synchronous, except for calls that wait for a slot. */
export function createLocalLimits({ clock, ids = "" }: { readonly clock: Clock; readonly ids?: string }): Limits & {
  close(): void;
  readonly size: { readonly windows: number; readonly calls: number; readonly places: number };
} {
  const watchers = createListeners<BreakerChange>();
  const tables = createLocalTables(watchers.tell);
  const calls = createWaitingCalls(clock, wakeInTime, () => {});
  const { waiting, held } = calls;
  let lastId = 0;

  function serve(): void {
    if (waiting.size > 0)
      serveWaiting(tables, waiting.values(), clock.now(), (waiter, admission) => waiter.answer(admission));
  }

  /** A pass that is never released expires, which must wake a waiting call. Returns a function that stops this. */
  function wakeInTime(): () => void {
    let cancel: (() => void) | undefined;
    const sleep = (): void => {
      const end = tables.firstEnd(clock.now());
      cancel = end === undefined ? undefined : clock.after(Math.min(end - clock.now(), LONGEST_WAIT_MS), wake);
    };
    const wake = (): void => {
      serve();
      if (waiting.size > 0) sleep();
    };
    sleep();
    return () => cancel?.();
  }

  return {
    admit(request, { signal } = {}) {
      if (signal?.aborted) return ABORTED;
      const now = clock.now();
      const id = ids + String(++lastId);
      const admission = tryAdmit(tables, request, id, now);
      const { waitMs = 0 } = request;
      if (admission.admitted || admission.because !== "places" || waitMs <= 0) return admission;
      return calls.enqueue(id, request)(signal);
    },
    release(pass, outcome, spent) {
      held.delete(pass.id);
      const released = releasePass(tables, pass, outcome, clock.now(), spent);
      serve();
      return released;
    },
    retry: (budget) => takeRetry(tables, budget, clock.now()),
    watchBreakers(listener) {
      for (const change of tables.open()) tellAll([listener], change);
      return watchers.add(listener);
    },
    forget(key) {
      tables.setBreaker(key, undefined);
    },
    close() {
      for (const { answer } of waiting.values()) answer(ABORTED);
    },
    get size() {
      return tables.size;
    },
  };
}
