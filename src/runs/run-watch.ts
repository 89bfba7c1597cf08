import { pause } from "../base/turns/until-aborted.ts";
import type { Approvals } from "../guard/aegis.ts";
import type { Clock } from "../observe/clock.ts";
import type { ArsenalEvent, EventChoice } from "../observe/events.ts";
import { startLeasedWork } from "../state/leased-work.ts";
import type { SharedState } from "../state/shared-state.ts";
import { RUNS_TOPIC } from "./keys.ts";
import type { RunStore } from "./run-store.ts";

/** A message between processes about runs. `started`: a process has its first run. `turned`: a run ended or waits. */
export interface RunsMessage {
  readonly what: "cancel" | "started" | "turned";
  readonly id: string;
}

/** Interval at which one process searches for runs that can continue because their approval was answered elsewhere or their process died. */
const SWEEP_MS = 2_000;

/** Watches for answers, cancellations and dead processes after `start`. */
export function followRuns(parts: {
  readonly state: Pick<SharedState, "changes" | "leases">;
  readonly clock: Clock;
  readonly store: RunStore;
  readonly approvals: Pick<Approvals, "get">;
  readonly subscribe: (listener: (event: ArsenalEvent) => void, options: EventChoice) => () => void;
  onMessage(message: RunsMessage): void;
  /** Continues a run, if possible. */
  resume(id: string): Promise<unknown>;
  isActive(id: string): boolean;
}) {
  const { state, clock, store, approvals } = parts;
  const listeners = new Map<string, Set<() => void>>();
  let ends: (() => unknown)[] | undefined;

  function onMessage(data: unknown): void {
    const message = data as RunsMessage;
    for (const wake of listeners.get(message.id) ?? []) wake();
    parts.onMessage(message);
  }

  /** Continues the runs that wait for an approval that was just answered in this process. */
  async function onAnswer(confirmationId: string): Promise<void> {
    for (const { id, waits } of await store.open())
      if (waits.some((wait) => wait.confirmationId === confirmationId)) resume(id);
  }

  function resume(id: string): void {
    // The next sweep retries.
    parts.resume(id).catch(() => {});
  }

  async function sweep(held: AbortSignal): Promise<void> {
    for (const { id, waits } of await store.open()) {
      if (held.aborted) return;
      if (parts.isActive(id)) continue;
      const found = await Promise.all(waits.map(({ confirmationId }) => approvals.get(confirmationId)));
      if (waits.length === 0 || found.some((approval) => approval?.state !== "pending")) resume(id);
    }
  }

  return {
    start(): void {
      ends ??= [
        state.changes.subscribe(RUNS_TOPIC, onMessage),
        parts.subscribe(
          ({ name, data }) => {
            if (name !== "confirmation-resolved" || data.outcome === "used" || data.outcome === "returned") return;
            onAnswer(data.id).catch(() => {});
          },
          { names: ["confirmation-resolved"] },
        ),
        startLeasedWork(state.leases, clock, { name: "runs", everyMs: SWEEP_MS, run: sweep }),
      ];
    },
    /** Resolves when a process reports the end of the run's turn, or after `ms`. */
    next(id: string, ms: number, signal: AbortSignal | undefined) {
      const over = new AbortController();
      const wake = (): void => over.abort();
      const waiting = listeners.get(id) ?? new Set();
      listeners.set(id, waiting.add(wake));
      const forget = (): void => {
        waiting.delete(wake);
        if (waiting.size === 0 && listeners.get(id) === waiting) listeners.delete(id);
      };
      const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
      const promise = pause(ms, clock, { signal: either }).then(forget, forget);
      return { promise, cancel: wake };
    },
    async close(): Promise<void> {
      const all = ends ?? [];
      ends = [];
      await Promise.all(all.map((end) => end()));
    },
  };
}
