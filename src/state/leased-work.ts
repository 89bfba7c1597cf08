import type { Clock } from "../observe/clock.ts";
import type { Lease, Leases } from "./changes.port.ts";

/** Background work that only one process does at a time. */
export interface LeasedWork {
  readonly name: string;
  /** The interval in milliseconds. If the process that does the work dies, another takes over within two intervals. */
  readonly everyMs: number;
  /** Runs the work. The signal fires when another process may have taken over. Rejections are ignored, and the work runs again after the interval. */
  run(held: AbortSignal): Promise<unknown>;
}

/** Repeats work in the process that holds its lease. The work pauses while the store is unavailable. Returns a function that stops it. */
export function startLeasedWork(leases: Leases, clock: Clock, { name, everyMs, run }: LeasedWork): () => Promise<void> {
  let lease: Lease | undefined;
  let turn: Promise<void> | undefined;
  let cancel = next();
  let over = false;

  function next(): () => void {
    return clock.after(everyMs, () => void (turn = take()), { background: true });
  }

  async function take(): Promise<void> {
    try {
      if (lease?.lost.aborted !== false) lease = await leases.acquire(name, { ttlMs: everyMs });
      if (!over && lease !== undefined) await run(lease.lost);
    } catch {
      // The store is unavailable, or the work failed. The next turn retries.
    }
    if (!over) cancel = next();
  }

  return async () => {
    over = true;
    cancel();
    await turn;
    await lease?.release().catch(() => undefined);
  };
}
