import type { Clock } from "../observe/clock.ts";
import type { Changes } from "../state/changes.port.ts";
import type { CatalogEngine, EngineChanges } from "./catalog-engine.port.ts";

interface FollowingParts {
  readonly engine: Pick<CatalogEngine, "changes">;
  readonly changes: Changes;
  readonly clock: Clock;
  /** Called with the changes in order, one at a time. May include changes by this process. */
  readonly onChanges: (changes: EngineChanges) => Promise<void>;
  readonly onRound: () => void;
}

const TOPIC = "catalog";
/** The polling interval without announcements, in milliseconds: a process may die between a change and its announcement. */
const ROUND_MS = 30_000;

export type Following = ReturnType<typeof follow>;

/** Follows the changes of other processes to a shared engine, from a revision on. */
export function follow(since: number, { engine, changes, clock, onChanges, onRound }: FollowingParts) {
  let read = since;
  let heard = since;
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<void> | undefined;
  let cancelRound = clock.after(ROUND_MS, round, { background: true });
  const end = changes.subscribe(TOPIC, (data) => {
    const { revision } = (data ?? {}) as { readonly revision?: unknown };
    hear(typeof revision === "number" ? revision : Infinity);
  });

  function round(): void {
    cancelRound = clock.after(ROUND_MS, round, { background: true });
    onRound();
    hear(Infinity);
  }

  function hear(revision: number): void {
    heard = Math.max(heard, revision);
    if (!signal.aborted && heard > read) running ??= catchUp().finally(() => (running = undefined));
  }

  async function catchUp(): Promise<void> {
    try {
      while (heard > read && !signal.aborted) {
        heard = read;
        const found = await engine.changes(read);
        read = Math.max(read, found.revision);
        // A slow write may become visible after its revision was read.
        const isNews = found.changed.length + found.deleted.length > 0 || found.incomplete === true;
        if (isNews && !signal.aborted) await onChanges(found);
      }
    } catch {
      // The engine failed; the next round retries.
    }
  }

  // The engine may have changed before the first message arrived.
  hear(Infinity);

  return {
    /** Records a change by this process and announces it to others. */
    made(revision: number): void {
      // The revisions are consecutive, so no other process changed anything in between.
      if (revision === read + 1) read = revision;
      else hear(revision);
      changes.publish(TOPIC, { revision }).catch(() => {
        // The other processes find the change in their next round.
      });
    },
    /** Stops. Resolves when no work is running. */
    async close(): Promise<void> {
      closing.abort();
      end();
      cancelRound();
      await running;
    },
  };
}
