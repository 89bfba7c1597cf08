import { memoryState } from "../../src/adapters/state/memory.ts";
import type { Clock } from "../../src/observe/clock.ts";
import type { SharedState } from "../../src/state/shared-state.ts";

/** State in memory that several gateways of one test share. */
export interface SharedMemory extends SharedState {
  /** Lets every lease run out, as if its holder had crashed. */
  loseLeases(): void;
}

export function sharedMemory(clock?: Clock): SharedMemory {
  const held = new Set<string>();
  return {
    ...memoryState(clock && { clock }),
    loseLeases: () => held.clear(),
    leases: {
      async acquire(name) {
        if (held.has(name)) return undefined;
        held.add(name);
        return { name, lost: new AbortController().signal, release: async () => void held.delete(name) };
      },
    },
  };
}
