import { untilAborted } from "../../../base/turns/until-aborted.ts";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { Clock } from "../../../observe/clock.ts";
import { createLookout } from "../../../state/lookout.ts";
import { migrate } from "../../postgres/migrate.ts";
import { type Postgres, quoted } from "../../postgres/postgres.ts";
import { limitTables } from "./limit-functions.ts";
import { quotaTables } from "./quota-functions.ts";
import { processTables } from "./presence.ts";
import { channelOf, stateTables } from "./tables.ts";

/** The timeout of a statement, in milliseconds. */
const PATIENCE_MS = 10_000;

/** The polling interval, in milliseconds. A lost connection may lose a notification. */
const LOOK_MS = 900;

export type StateDatabase = ReturnType<typeof createStateDatabase>;

/** Opens the database of a state. The first statement creates the tables. With `ownTime`, the clock gives the time, for tests. */
export function createStateDatabase(
  postgres: Postgres,
  schema: string,
  { clock, ownTime }: { readonly clock: Clock; readonly ownTime: boolean },
) {
  let ready: Promise<void> | undefined;
  const looks = new Map<ReturnType<typeof createLookout>, string>();
  let stopListening: (() => void) | undefined;

  function prepared(): Promise<void> {
    ready ??= migrate(postgres, {
      name: "state",
      schema,
      steps: [stateTables(schema) + limitTables(schema), processTables(schema), quotaTables(schema)],
    });
    ready.catch(() => (ready = undefined));
    return ready;
  }

  /** Starts the polls for one message, or all polls. */
  function wake(message?: string): void {
    for (const [lookout, what] of looks) if (message === undefined || message === what) lookout.soon();
  }

  return {
    schema: quoted(schema),
    /** Runs one statement after the tables exist. Rejects if it takes longer than `withinMs`. */
    async ask<Row extends object>(
      sql: string,
      values: readonly unknown[],
      {
        signal,
        withinMs = PATIENCE_MS,
      }: { readonly signal?: AbortSignal | undefined; readonly withinMs?: number } = {},
    ): Promise<readonly Row[]> {
      signal?.throwIfAborted();
      const late = AbortSignal.timeout(withinMs);
      const ended = signal === undefined ? late : AbortSignal.any([signal, late]);
      try {
        const work = prepared().then(() => postgres.query<Row>(sql, values, { signal: ended }));
        return await untilAborted(work, ended);
      } catch (error) {
        throw late.aborted && error === late.reason ? tooSlow(withinMs) : error;
      }
    },
    /** The time for SQL. Null means the server's time. */
    now: (): number | null => (ownTime ? clock.now() : null),
    /** Polls now, when the database notifies, and every `ms` milliseconds. Returns a function that stops the polling. */
    watch(what: string, look: () => Promise<unknown>, ms = LOOK_MS) {
      const lookout = createLookout(clock, ms, look);
      lookout.soon();
      looks.set(lookout, what);
      stopListening ??= postgres.listen(channelOf(schema), wake, () => wake());
      return () => {
        lookout.stop();
        looks.delete(lookout);
        if (looks.size > 0) return;
        stopListening?.();
        stopListening = undefined;
      };
    },
    close() {
      for (const lookout of looks.keys()) lookout.stop();
      looks.clear();
      stopListening?.();
    },
  };
}

function tooSlow(ms: number): ArsenalError {
  const fix = "Check the load of the server and the network to it.";
  return fixable("STORE_FAILED", `PostgreSQL did not answer within ${Math.round(ms)} ms.`, fix, { field: "state.url" });
}
