import { randomUUID } from "node:crypto";
import type { Clock } from "../observe/clock.ts";
import type { Presence } from "./changes.port.ts";

/** How long a process counts as running after it last renewed its presence, in milliseconds. */
export const PRESENCE_MS = 10_000;

/** How often a process renews its presence, in milliseconds. */
const RENEW_MS = 3_000;

/** How soon a renewal that failed is repeated, in milliseconds. */
const RETRY_MS = 1_000;

/** A process that renewed less recently than this does not know whether the others could, in milliseconds. */
const LAPSE_MS = 5_000;

/** How long all processes have to renew once the store is back, before one that has not counts as gone, in milliseconds. */
const GRACE_MS = 4_000;

/** How long a process that was seen is not looked for again, in milliseconds. */
const SEEN_MS = 1_000;

/** Where processes are kept. */
export interface PresenceStore {
  /** Keeps this process for `PRESENCE_MS`, and frees all that processes hold which are gone. It is one step that the store makes as a whole. */
  renew(renewal: Renewal): Promise<KnownProcesses>;
  /** Frees all that this process holds, and forgets it. */
  leave(id: string): Promise<void>;
}

export interface Renewal {
  readonly id: string;
  /** Describes the process to those on the same machine. */
  readonly description: string;
  /** The ids of processes that have ended. */
  readonly ended: readonly string[];
  /** True if those that have not renewed in time are gone too. */
  readonly late: boolean;
}

export interface KnownProcesses {
  /** False if this process was not known before, or no longer. */
  readonly wasKnown: boolean;
  /** The other processes, without those that are gone. */
  readonly others: readonly { readonly id: string; readonly description: string }[];
}

/** Tells a process apart from those that have ended on the same machine. */
export interface ProcessTable {
  /** Describes this process. */
  describe(): string;
  /** True if the description is of a process that has certainly ended. */
  hasEnded(description: string): boolean;
}

export type RenewedPresence = ReturnType<typeof createPresence>;

/** The presence of this process, renewed in the background from the moment at which it first holds something. */
export function createPresence(store: PresenceStore, clock: Clock, processes: ProcessTable) {
  const id: string = randomUUID();
  const listeners = new Set<() => void>();
  let description: string | undefined;
  let entered = false;
  let closed = false;
  let cancel: (() => void) | undefined;
  let renewing: Promise<ReadonlySet<string>> | undefined;
  /** When the last renewal that succeeded began, and since when they have succeeded without a lapse. */
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
    // It was paused or cut off for so long that the others took it for dead.
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
      // A renewal that is under way may have begun before the other process entered.
      if ((await renewing?.catch(() => undefined))?.has(other) === true) return true;
      return (await renew()).has(other);
    },
    /** Calls back when the others took this process for dead, so that nothing it held is its own any more. */
    onLost: (listener: () => void) => void listeners.add(listener),
    /** Leaves the others, and gives back whatever is still held. */
    async close(): Promise<void> {
      if (closed || (!entered && renewing === undefined)) return;
      closed = true;
      cancel?.();
      const last = renewing;
      await store.leave(id);
      // A renewal that was under way may have arrived later.
      if (last !== undefined) await last.then(() => store.leave(id)).catch(() => {});
    },
  } satisfies Presence & Record<string, unknown>;
}
