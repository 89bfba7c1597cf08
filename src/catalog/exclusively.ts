import type { Leases } from "../state/changes.port.ts";

/**
 * Runs named work that only one process may do at a time. The signal for the work fires if its lease is lost. Resolves to `taken` if another process
 * has or took the lease, so the work was not completed, and to `away` if the lease store is unavailable. Rejects if the work rejects or the caller's
 * signal fires.
 */
export type Exclusively = (
  name: string,
  work: (held: AbortSignal) => Promise<void>,
  signal: AbortSignal,
) => Promise<"done" | "taken" | "away">;

/** How long the lease of a dead process blocks others, in milliseconds. */
const LEASE_MS = 10_000;

export function exclusivelyBy(leases: Leases): Exclusively {
  return async (name, work, signal) => {
    const lease = await leases.acquire(name, { ttlMs: LEASE_MS, signal }).catch(() => "away" as const);
    signal.throwIfAborted();
    if (lease === undefined) return "taken";
    if (lease === "away") return "away";
    try {
      await work(AbortSignal.any([signal, lease.lost]));
      return "done";
    } catch (error) {
      signal.throwIfAborted();
      if (lease.lost.aborted) return "taken";
      throw error;
    } finally {
      await lease.release().catch(() => {});
    }
  };
}
