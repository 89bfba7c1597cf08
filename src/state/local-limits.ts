import type { Clock } from "../observe/clock.ts";
import { releasePass, serveWaiting, takeRetry, tryAdmit } from "./limit-rules.ts";
import type { Admission, AdmitRequest, BreakerChange, Limits } from "./limits.port.ts";
import { createLocalTables } from "./local-tables.ts";
import { tellAll } from "./topics.ts";

/** A timer set for much longer fires at once. */
const LONGEST_WAIT_MS = 3_600_000;

interface Waiter {
  readonly id: string;
  readonly request: AdmitRequest;
  answer(admission: Admission): void;
}

/** Limits of this process alone. They answer at once, except to calls that wait for a place. */
export function createLocalLimits({ clock, ids = "" }: { readonly clock: Clock; readonly ids?: string }): Limits & {
  /** Refuses all that wait. */
  close(): void;
  /** How much is remembered. */
  readonly size: { readonly windows: number; readonly calls: number };
} {
  const watchers = new Set<(change: BreakerChange) => void>();
  const tables = createLocalTables((change) => tellAll(watchers, change));
  /** In the order of arrival. */
  const queue = new Set<Waiter>();
  let lastId = 0;
  let cancelWake: (() => void) | undefined;

  function serve(): void {
    if (queue.size > 0) serveWaiting(tables, queue, clock.now(), (waiter, admission) => waiter.answer(admission));
  }

  /** A pass that is never given back ends at its time: a call that waits then must be woken. */
  function wakeInTime(): void {
    if (queue.size === 0) {
      cancelWake?.();
      cancelWake = undefined;
    } else if (cancelWake === undefined) {
      const end = tables.firstEnd(clock.now());
      const wake = (): void => {
        cancelWake = undefined;
        serve();
        wakeInTime();
      };
      if (end !== undefined) cancelWake = clock.after(Math.min(end - clock.now(), LONGEST_WAIT_MS), wake);
    }
  }

  function wait(id: string, request: AdmitRequest, ms: number, signal: AbortSignal | undefined): Promise<Admission> {
    return new Promise((resolve) => {
      const refuse = (because: "places" | "aborted"): void =>
        waiter.answer({ admitted: false, because, key: request.places?.[0]?.key ?? "" });
      const onAbort = (): void => refuse("aborted");
      const cancelTimer = clock.after(ms, () => refuse("places"));
      const waiter: Waiter = {
        id,
        request,
        answer(admission) {
          queue.delete(waiter);
          cancelTimer();
          signal?.removeEventListener("abort", onAbort);
          wakeInTime();
          resolve(admission);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      queue.add(waiter);
      wakeInTime();
    });
  }

  return {
    admit(request, { signal } = {}) {
      if (signal?.aborted) return { admitted: false, because: "aborted", key: "" };
      const now = clock.now();
      const id = ids + String(++lastId);
      const admission = tryAdmit(tables, request, id, now);
      const { waitMs = 0 } = request;
      if (admission.admitted || admission.because !== "places" || waitMs <= 0) return admission;
      return wait(id, request, waitMs, signal);
    },
    release(pass, outcome) {
      const released = releasePass(tables, pass, outcome, clock.now());
      serve();
      return released;
    },
    retry: (budget) => takeRetry(tables, budget, clock.now()),
    watchBreakers(listener) {
      const own = (change: BreakerChange): void => listener(change);
      watchers.add(own);
      for (const change of tables.open()) tellAll([own], change);
      return () => void watchers.delete(own);
    },
    forget(key) {
      tables.setBreaker(key, undefined);
    },
    close() {
      for (const waiter of queue) waiter.answer({ admitted: false, because: "aborted", key: "" });
    },
    get size() {
      return tables.size;
    },
  };
}
