import type { SharedState } from "./shared-state.ts";

/** Keeps documents in one store, and rates, places, breakers, changes, leases and presence in another. Closing it closes both. */
export function splitState(kept: SharedState, counted: SharedState): SharedState {
  return {
    name: `${kept.name}+${counted.name}`,
    documents: kept.documents,
    limits: counted.limits,
    changes: counted.changes,
    leases: counted.leases,
    presence: counted.presence,
    healthCheck: async () => (await Promise.all([kept.healthCheck(), counted.healthCheck()])).every(Boolean),
    async close() {
      const outcomes = await Promise.allSettled([counted.close(), kept.close()]);
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}
