import type { Principal } from "../../../guard/principal.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { HttpSession } from "./http-session.ts";

/** The live sessions of one endpoint. */
export interface SessionStore {
  /** Keeps a session. False where there is no room: as many sessions as are allowed, and all of them in use. */
  add(session: HttpSession): boolean;
  /** The session of that id, where it is this caller's. */
  get(id: string, principal: Principal): HttpSession | undefined;
  delete(id: string): void;
  endAll(): Promise<void>;
}

interface Entry {
  readonly session: HttpSession;
  usedAt: number;
  stopTimer: () => void;
}

/** Keeps sessions until they are ended, have been idle too long, or make room for new ones. */
export function createSessionStore(options: {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly limit: number;
}): SessionStore {
  const { clock, idleMs, limit } = options;
  /** Least recently used first. */
  const entries = new Map<string, Entry>();

  function watch(entry: Entry, ms: number): void {
    entry.stopTimer = clock.after(
      ms,
      () => {
        const left = entry.session.busy ? idleMs : entry.usedAt + idleMs - clock.now();
        if (left > 0) watch(entry, left);
        else void entry.session.end();
      },
      { background: true },
    );
  }

  return {
    add(session) {
      if (entries.size >= limit) {
        // Whoever opens many sessions loses their own before those of others.
        const unused = [...entries.values()].filter((entry) => !entry.session.busy);
        const idle = unused.find((entry) => isSame(entry.session.principal, session.principal)) ?? unused[0];
        if (idle === undefined) return false;
        void idle.session.end();
      }
      const entry: Entry = { session, usedAt: clock.now(), stopTimer: () => undefined };
      entries.set(session.id, entry);
      watch(entry, idleMs);
      return true;
    },
    get(id, principal) {
      const entry = entries.get(id);
      if (entry === undefined) return undefined;
      const { session } = entry;
      if (!isSame(session.principal, principal)) return undefined;
      entry.usedAt = clock.now();
      entries.delete(id);
      entries.set(id, entry);
      return session;
    },
    delete(id) {
      entries.get(id)?.stopTimer();
      entries.delete(id);
    },
    async endAll() {
      await Promise.all([...entries.values()].map(({ session }) => session.end()));
    },
  };
}

function isSame(owner: Principal, caller: Principal): boolean {
  return owner.id === caller.id && owner.tenant === caller.tenant;
}
