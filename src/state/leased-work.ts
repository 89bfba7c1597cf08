import type { Clock } from "../observe/clock.ts";
import type { Lease, Leases } from "./changes.port.ts";

/** Background work that one process at a time does. */
export interface LeasedWork {
  /** The name of the lease. */
  readonly name: string;
  /** The interval, in milliseconds. If the process that does it dies, another one takes over within twice that. */
  readonly everyMs: number;
  /** The signal fires when another process may have taken over. A rejection is ignored, and the work runs again the next time. */
  run(held: AbortSignal): Promise<unknown>;
}

/** Repeats work in the process that holds its lease. Nothing runs while the store is unavailable. Returns a function that stops it. */
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
      // The store is unavailable, or the work failed: the next turn retries.
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
