import { memoryState } from "../../src/adapters/state/memory.ts";
import type { Clock } from "../../src/observe/clock.ts";
import type { ReplicaState } from "../../src/serve/mcp/replica.ts";

/** State in memory that several gateways of one test share. */
export interface SharedMemory extends ReplicaState {
  /** Lets every lease run out, as if its holder had crashed. */
  loseLeases(): void;
}

export function sharedMemory(clock?: Clock): SharedMemory {
  const listeners = new Map<(data: unknown) => void, string>();
  const held = new Set<string>();
  return {
    loseLeases: () => held.clear(),
    documents: memoryState(clock && { clock }).documents,
    changes: {
      async publish(topic, data) {
        const text = JSON.stringify(data);
        for (const [listener, of] of listeners) if (of === topic) setImmediate(() => listener(JSON.parse(text)));
      },
      subscribe(topic, listener) {
        listeners.set(listener, topic);
        return () => void listeners.delete(listener);
      },
    },
    leases: {
      async acquire(name) {
        if (held.has(name)) return undefined;
        held.add(name);
        return { name, lost: new AbortController().signal, release: async () => void held.delete(name) };
      },
    },
  };
}
