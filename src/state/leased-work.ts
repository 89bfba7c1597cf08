import type { Clock } from "../observe/clock.ts";
import type { Lease, Leases } from "./changes.port.ts";

/** A piece of background work, which one process at a time does. */
export interface LeasedWork {
  /** Names the lease. */
  readonly name: string;
  /** How often it is done, in milliseconds. If the process that does it dies, another one takes over within twice that. */
  readonly everyMs: number;
  /** The signal fires when another process may have taken over. What it rejects with is dropped, and it is done again the next time. */
  run(held: AbortSignal): Promise<unknown>;
}

/** Does work again and again in whichever process holds its lease. Nothing is done while the store is away. Returns what ends it. */
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
      // The store is away, or the work failed: the next turn does it.
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
