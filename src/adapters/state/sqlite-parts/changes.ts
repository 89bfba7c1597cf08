import type { Clock } from "../../../observe/clock.ts";
import type { Changes } from "../../../state/changes.port.ts";
import { createRenewedLeases, type RenewedLeases } from "../../../state/renewed-leases.ts";
import type { RenewedPresence } from "../../../state/renewed-presence.ts";
import { createTopics } from "../../../state/topics.ts";
import type { Database, StateFile } from "./file.ts";
import type { Poller } from "./poller.ts";

/** The polling interval for messages of other processes. */
const LOOK_MS = 200;

/** How long a message is kept for slow processes. */
const KEEP_MS = 600_000;

/** A new listener also receives messages that were published this much earlier, because the clocks of two processes may differ. */
const SLACK_MS = 5_000;

/** Keeps messages in a table that every process reads. */
export function createSqliteChanges(file: StateFile, poller: Poller, clock: Clock): Changes {
  /** The last message read. Undefined at first, so the first read selects by time. */
  let last: number | undefined;
  let since = 0;
  const topics = createTopics(() => {
    last = undefined;
    since = clock.now() - SLACK_MS;
    return poller.add(look, LOOK_MS);
  });

  function look(): void {
    const { rows, newest } = file.read((database) => {
      // The file may have been replaced.
      const max = database.get<{ n: number | null }>("SELECT max(n) AS n FROM change")?.n ?? 0;
      const read = last !== undefined && last > max ? 0 : last;
      const sql = "SELECT topic, data FROM change WHERE n > :read AND n <= :max AND at >= :since ORDER BY n";
      const values = { read: read ?? 0, max, since: read === undefined ? since : 0 };
      return { rows: database.all<{ topic: string; data: string }>(sql, values), newest: max };
    });
    last = newest;
    for (const { topic, data } of rows) topics.tell([topic, data]);
  }

  return {
    async publish(topic, data, { signal } = {}) {
      const text = JSON.stringify(data);
      await file.change(
        (database) => {
          const at = clock.now();
          database.run("DELETE FROM change WHERE at < :before", { before: at - KEEP_MS });
          database.run("INSERT INTO change (topic, data, at) VALUES (:topic, :text, :at)", { topic, text, at });
        },
        { durable: false, signal },
      );
      if (topics.size > 0) look();
    },
    subscribe: topics.subscribe,
  };
}

export function createSqliteLeases(file: StateFile, clock: Clock, presence: RenewedPresence): RenewedLeases {
  const changes = async (
    sql: string,
    values: { readonly name: string; readonly holder: string },
    ttlMs: number,
    signal?: AbortSignal,
  ): Promise<boolean> => {
    const step = (database: Database): boolean => {
      const now = clock.now();
      return database.run(sql, { ...values, now, until: now + ttlMs }) === 1;
    };
    return file.change(step, { durable: false, signal });
  };
  return createRenewedLeases(
    {
      acquire(name, holder, ttlMs, signal) {
        const sql =
          "INSERT INTO lease VALUES (:name, :holder, :until) ON CONFLICT DO UPDATE SET holder = :holder, until = :until WHERE until <= :now";
        return changes(sql, { name, holder }, ttlMs, signal);
      },
      renew(name, holder, ttlMs) {
        const sql = "UPDATE lease SET until = :until WHERE name = :name AND holder = :holder AND until > :now";
        return changes(sql, { name, holder }, ttlMs);
      },
      async release(name, holder) {
        const sql = "DELETE FROM lease WHERE name = :name AND holder = :holder";
        await file.change((database) => void database.run(sql, { name, holder }), { durable: false });
      },
    },
    clock,
    presence,
  );
}
