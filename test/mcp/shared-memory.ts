import { memoryState } from "../../src/adapters/state/memory.ts";
import { ArsenalError } from "../../src/errors/arsenal-error.ts";
import type { Clock } from "../../src/observe/clock.ts";
import type { SharedState } from "../../src/state/shared-state.ts";

/** State in memory that several gateways of one test share. */
export interface SharedMemory extends SharedState {
  /** True while documents can be neither read nor written. */
  broken: boolean;
  /** Lets every lease run out, as if its holder had crashed. */
  loseLeases(): void;
}

/** Begins empty. What it fails with names a file, as a real one would. */
export function sharedMemory(clock?: Clock): SharedMemory {
  const held = new Set<string>();
  const memory = memoryState(clock && { clock });
  const { get, set } = memory.documents;
  const state: SharedMemory = {
    ...memory,
    broken: false,
    documents: {
      ...memory.documents,
      get: async (...given) => (check(), get(...given)),
      set: async (...given) => (check(), set(...given)),
    },
    loseLeases: () => held.clear(),
    leases: {
      async acquire(name) {
        if (held.has(name)) return undefined;
        held.add(name);
        return { name, lost: new AbortController().signal, release: async () => void held.delete(name) };
      },
    },
  };
  function check(): void {
    if (state.broken) throw new ArsenalError("STORE_FAILED", "The state file /home/someone/state cannot be used.");
  }
  return state;
}
