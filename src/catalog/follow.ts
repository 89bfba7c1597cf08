import type { Clock } from "../observe/clock.ts";
import type { Changes } from "../state/changes.port.ts";
import type { CatalogEngine, EngineChanges } from "./catalog-engine.port.ts";

interface FollowingParts {
  readonly engine: Pick<CatalogEngine, "changes">;
  readonly changes: Changes;
  readonly clock: Clock;
  /** Called with what changed, in order, one at a time. It may name changes made here too. */
  readonly onChanges: (changes: EngineChanges) => Promise<void>;
  /** Called now and then. */
  readonly onRound: () => void;
}

/** The topic that tells of changes of the catalog. */
const TOPIC = "catalog";
/** How often to look even if nothing was heard: a process may die between a change and telling of it. */
const ROUND_MS = 30_000;

export type Following = ReturnType<typeof follow>;

/** Follows what other processes change in an engine that they share, from a revision on. */
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
        // A write that took long may come to light after the revision it belongs to.
        const isNews = found.changed.length + found.deleted.length > 0 || found.incomplete === true;
        if (isNews && !signal.aborted) await onChanges(found);
      }
    } catch {
      // The engine fails; the next round tries again.
    }
  }

  // Something may have changed before the first message could be heard.
  hear(Infinity);

  return {
    /** Notes a change made here, and tells the other processes. */
    made(revision: number): void {
      // Nobody else can have made a change in between.
      if (revision === read + 1) read = revision;
      else hear(revision);
      changes.publish(TOPIC, { revision }).catch(() => {
        // The others find out in their next round.
      });
    },
    /** Stops; resolves when nothing is under way any more. */
    async close(): Promise<void> {
      closing.abort();
      end();
      cancelRound();
      await running;
    },
  };
}
