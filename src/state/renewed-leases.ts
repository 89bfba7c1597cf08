import { randomUUID } from "node:crypto";
import type { Clock } from "../observe/clock.ts";
import type { Lease, Leases } from "./changes.port.ts";
import { PRESENCE_MS, type RenewedPresence } from "./renewed-presence.ts";

/** The storage of leases. Each method is atomic. */
export interface LeaseStore {
  /** Takes the lease if it is free. Returns false otherwise. */
  acquire(name: string, holder: string, ttlMs: number, signal: AbortSignal | undefined): Promise<boolean>;
  /** Extends the lease if this holder still has it. A response after `withinMs` is ignored. */
  renew(name: string, holder: string, ttlMs: number, withinMs: number): Promise<boolean>;
  release(name: string, holder: string): Promise<void>;
}

export type RenewedLeases = ReturnType<typeof createRenewedLeases>;

/** Leases that this process renews three times per TTL. A holder's id begins with its process's id. Leases end with the process's presence. */
export function createRenewedLeases(store: LeaseStore, clock: Clock, presence: RenewedPresence) {
  const held = new Set<{ renew(): Promise<void>; release(): Promise<void> }>();
  presence.onLost(renewAll);

  /** Renews every lease immediately, because the store may have lost it. */
  function renewAll(): void {
    for (const lease of held) void lease.renew();
  }

  /** `end` is on this process's clock, from before the request. The store gives the lease to no other holder until then. */
  function hold(name: string, holder: string, ttlMs: number, end: number): Lease {
    const lost = new AbortController();
    let over = false;
    let cancel = clock.after(ttlMs / 3, () => void renew(), { background: true });

    function stop(): void {
      over = true;
      cancel();
      held.delete(own);
    }

    async function renew(): Promise<void> {
      cancel();
      const from = clock.now();
      try {
        end = (await store.renew(name, holder, ttlMs, Math.max(1, end - from))) ? from + ttlMs : 0;
      } catch {
        // The store is unavailable. The lease is valid until it expires.
      }
      if (over) return;
      cancel();
      const left = end - clock.now();
      if (left > 0) {
        cancel = clock.after(Math.min(ttlMs / 3, left), () => void renew(), { background: true });
        return;
      }
      stop();
      lost.abort(new Error(`The lease "${name}" could not be renewed in time.`));
    }

    async function release(): Promise<void> {
      if (over) return;
      stop();
      await store.release(name, holder);
    }

    const own = { renew, release };
    held.add(own);
    return { name, lost: lost.signal, release };
  }

  return {
    async acquire(...[name, { ttlMs, signal }]: Parameters<Leases["acquire"]>): Promise<Lease | undefined> {
      signal?.throwIfAborted();
      const holder = `${await presence.enter()}:${randomUUID()}`;
      const from = clock.now();
      const ms = Math.min(ttlMs, PRESENCE_MS);
      return (await store.acquire(name, holder, ms, signal)) ? hold(name, holder, ms, from + ms) : undefined;
    },
    renewAll,
    async close() {
      await Promise.allSettled([...held].map(({ release }) => release()));
    },
  };
}
