import { randomUUID } from "node:crypto";
import type { Clock } from "../observe/clock.ts";
import type { Presence } from "./changes.port.ts";

/** How long a process counts as running after it last renewed its presence, in milliseconds. */
export const PRESENCE_MS = 10_000;

/** How often a process renews its presence, in milliseconds. */
const RENEW_MS = 3_000;

/** The delay before a failed renewal is retried, in milliseconds. */
const RETRY_MS = 1_000;

/** If its last renewal is older than this (in milliseconds), this process cannot judge whether others were able to renew. */
const LAPSE_MS = 5_000;

/** After an outage of the store, how long other processes have to renew before they count as dead, in milliseconds. */
const GRACE_MS = 4_000;

/** How long a process counts as present after it was last seen, without another check, in milliseconds. */
const SEEN_MS = 1_000;

export interface PresenceStore {
  /** Stores this process for `PRESENCE_MS`, and frees everything that dead processes held. Atomic. */
  renew(renewal: Renewal): Promise<KnownProcesses>;
  /** Removes this process, and frees everything that it held. */
  leave(id: string): Promise<void>;
}

export interface Renewal {
  readonly id: string;
  /** Identifies the process to others on the same machine. */
  readonly description: string;
  readonly ended: readonly string[];
  /** True if processes that did not renew in time also count as dead. */
  readonly late: boolean;
}

export interface KnownProcesses {
  /** False if the store did not know this process. */
  readonly wasKnown: boolean;
  /** The other live processes. */
  readonly others: readonly { readonly id: string; readonly description: string }[];
}

/** Distinguishes running from ended processes on the same machine. */
export interface ProcessTable {
  describe(): string;
  /** Returns true if the described process has certainly ended. */
  hasEnded(description: string): boolean;
}

export type RenewedPresence = ReturnType<typeof createPresence>;

/** The presence of this process. Renewed in the background once the process first holds something. */
export function createPresence(store: PresenceStore, clock: Clock, processes: ProcessTable) {
  const id: string = randomUUID();
  const listeners = new Set<() => void>();
  let description: string | undefined;
  let entered = false;
  let closed = false;
  let cancel: (() => void) | undefined;
  let renewing: Promise<ReadonlySet<string>> | undefined;
  /** The start of the last successful renewal, and of the current series of renewals without a lapse. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let steadySince = 0;
  let seen: ReadonlySet<string> = new Set<string>();

  async function renewOnce(): Promise<ReadonlySet<string>> {
    const from = clock.now();
    const isSteady = from - renewedAt <= LAPSE_MS;
    const late = isSteady && from - steadySince >= GRACE_MS;
    description ??= processes.describe();
    const step = { id, description, ended: [], late };
    let { wasKnown, others } = await store.renew(step);
    const ended = others.filter((other) => processes.hasEnded(other.description)).map((other) => other.id);
    if (ended.length > 0) ({ others } = await store.renew({ ...step, ended }));
    if (!isSteady) steadySince = from;
    renewedAt = from;
    seen = new Set(others.map((other) => other.id));
    // The process was paused or disconnected for so long that other processes considered it dead.
    if (entered && !wasKnown) for (const listener of listeners) listener();
    entered = true;
    return seen;
  }

  async function renewAndSchedule(): Promise<ReadonlySet<string>> {
    let ms = RETRY_MS;
    try {
      const others = await renewOnce();
      ms = RENEW_MS;
      return others;
    } finally {
      renewing = undefined;
      cancel?.();
      if (entered && !closed) cancel = clock.after(ms, () => void renew().catch(() => {}), { background: true });
    }
  }

  function renew(): Promise<ReadonlySet<string>> {
    renewing ??= renewAndSchedule();
    return renewing;
  }

  return {
    id,
    enter: (): string | Promise<string> => (entered ? id : renew().then(() => id)),
    async isPresent(other: string): Promise<boolean> {
      if (other === id || (seen.has(other) && clock.now() - renewedAt < SEEN_MS)) return true;
      // A running renewal may have started before the other process announced itself.
      if ((await renewing?.catch(() => undefined))?.has(other) === true) return true;
      return (await renew()).has(other);
    },
    /** Calls the listener when other processes considered this one dead, so that it no longer holds anything. */
    onLost: (listener: () => void) => void listeners.add(listener),
    /** Removes this process, and releases everything that it still holds. */
    async close(): Promise<void> {
      if (closed || (!entered && renewing === undefined)) return;
      closed = true;
      cancel?.();
      const last = renewing;
      await store.leave(id);
      // A running renewal may have reached the store later.
      if (last !== undefined) await last.then(() => store.leave(id)).catch(() => {});
    },
  } satisfies Presence & Record<string, unknown>;
}
