import { randomUUID } from "node:crypto";
import { ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Changes, Leases, Presence } from "../../state/changes.port.ts";
import { createLocalLimits } from "../../state/local-limits.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { State } from "../../state/state.port.ts";
import { createTopics } from "../../state/topics.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import type { Surroundings } from "../surroundings.ts";

export interface MemoryStateOptions {
  readonly clock?: Clock;
}

/** The fewest writes between two sweeps for expired entries. The number grows with the stored entries, so the cost per write stays constant. */
const WRITES_A_SWEEP = 256;

/** Keeps state in this process only. It is lost when the process ends. */
export function memoryState({ clock = systemClock }: MemoryStateOptions = {}): SharedState {
  const limits = createLocalLimits({ clock });
  let closed = false;

  function refuseIfClosed(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (closed) throw new ArsenalError("CLOSED", "This state was closed. Create a new one.");
  }

  return {
    name: "memory",
    documents: createDocuments(clock, refuseIfClosed),
    limits,
    changes: createChanges(refuseIfClosed),
    leases: createLeases(refuseIfClosed),
    presence: createPresence(refuseIfClosed),
    healthCheck: async () => !closed,
    async close() {
      closed = true;
      limits.close();
    },
  };
}

export function create(_settings: object, { clock }: Pick<Surroundings, "clock">): SharedState {
  return memoryState({ clock });
}

type RefuseIfClosed = (signal?: AbortSignal) => void;

function createDocuments(clock: Clock, refuseIfClosed: RefuseIfClosed): State {
  const entries = new Map<string, { readonly value: unknown; readonly version: number; readonly expiresAt: number }>();
  let version = 0;
  let sweptAt = 0;

  function live(key: string): { readonly value: unknown; readonly version: number } | undefined {
    const entry = entries.get(key);
    return entry === undefined || entry.expiresAt <= clock.now() ? undefined : entry;
  }

  function sweep(): void {
    sweptAt = version;
    const now = clock.now();
    for (const [key, { expiresAt }] of entries) if (expiresAt <= now) entries.delete(key);
  }

  return {
    async get(key, { signal } = {}) {
      refuseIfClosed(signal);
      const entry = live(key);
      return entry && { value: entry.value, version: entry.version };
    },

    async set(key, value, { ifVersion, expiresAt = Number.POSITIVE_INFINITY, signal } = {}) {
      refuseIfClosed(signal);
      const plain = toPlainData(value, (path, what) => {
        throw fixable("STORE_FAILED", `The state ${key} cannot be kept: ${path} is ${what}.`, "Give plain JSON data.");
      });
      if (ifVersion !== undefined && (live(key)?.version ?? "absent") !== ifVersion) return false;
      version++;
      entries.set(key, { value: plain, version, expiresAt });
      if (version - sweptAt >= Math.max(WRITES_A_SWEEP, entries.size)) sweep();
      return true;
    },

    async delete(key, { ifVersion, signal } = {}) {
      refuseIfClosed(signal);
      const entry = live(key);
      if (entry === undefined || (ifVersion !== undefined && entry.version !== ifVersion)) return false;
      return entries.delete(key);
    },

    async list(prefix, { after = "", limit, signal } = {}) {
      refuseIfClosed(signal);
      sweep();
      return [...entries]
        .filter(([key]) => key.startsWith(prefix) && key > after)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, limit)
        .map(([key, { value, version: at }]) => ({ key, value, version: at }));
    },

    async keys(prefix, { signal } = {}) {
      refuseIfClosed(signal);
      sweep();
      return [...entries.keys()].filter((key) => key.startsWith(prefix));
    },
  };
}

function createChanges(refuseIfClosed: RefuseIfClosed): Changes {
  const topics = createTopics();
  return {
    async publish(topic, data, { signal } = {}) {
      refuseIfClosed(signal);
      topics.tell([topic, JSON.stringify(data)]);
    },
    subscribe: topics.subscribe,
  };
}

/** Creates the presence of a state that other processes cannot see. */
function createPresence(refuseIfClosed: RefuseIfClosed): Presence {
  const id = randomUUID();
  return {
    enter() {
      refuseIfClosed();
      return id;
    },
    async isPresent(other) {
      refuseIfClosed();
      return other === id;
    },
  };
}

/** No other process can take these leases, so they are never lost and need no renewal. */
function createLeases(refuseIfClosed: RefuseIfClosed): Leases {
  const held = new Set<string>();
  return {
    async acquire(name, { signal }) {
      refuseIfClosed(signal);
      if (held.has(name)) return undefined;
      held.add(name);
      let isHeld = true;
      return {
        name,
        lost: new AbortController().signal,
        async release() {
          if (isHeld) held.delete(name);
          isHeld = false;
        },
      };
    },
  };
}
