import type { Clock } from "../../../observe/clock.ts";
import type { Changes } from "../../../state/changes.port.ts";
import { createRenewedLeases, type RenewedLeases } from "../../../state/renewed-leases.ts";
import type { RenewedPresence } from "../../../state/renewed-presence.ts";
import { createTopics } from "../../../state/topics.ts";
import type { StateDatabase } from "./database.ts";

/** A new listener also receives messages that were published this much earlier, in milliseconds. */
const SLACK_MS = 5_000;

/** Keeps messages in a table. Every process reads it when the database notifies the process, and about once a second. */
export function createPostgresChanges(database: StateDatabase, clock: Clock): Changes {
  const { schema } = database;
  /** The last message read. Undefined at first, so the first read selects by time. */
  let last: number | undefined;
  let since = 0;
  const topics = createTopics(() => {
    last = undefined;
    since = clock.now();
    return database.watch("change", look);
  });

  async function look(): Promise<void> {
    // If the newest message is older than the last one read, the database was replaced.
    const sql = `
      WITH newest AS (SELECT coalesce(max(n), 0) AS n FROM ${schema}.state_change)
      SELECT newest.n::float8 AS newest, topic, data FROM newest LEFT JOIN ${schema}.state_change AS change
        ON change.n > CASE WHEN $1::bigint <= newest.n THEN $1 ELSE 0 END AND change.n <= newest.n
        AND ($2::float8 IS NULL OR change.at >= ${schema}.state_now($3) - $2)
      ORDER BY change.n`;
    const agoMs = last === undefined ? clock.now() - since + SLACK_MS : null;
    type Row = { readonly newest: number; readonly topic: string | null; readonly data: string };
    const rows = await database.ask<Row>(sql, [last ?? 0, agoMs, database.now()]);
    last = rows[0]?.newest ?? last;
    for (const { topic, data } of rows) if (topic !== null) topics.tell([topic, data]);
  }

  return {
    async publish(topic, data, { signal } = {}) {
      const values = [topic, JSON.stringify(data), database.now()];
      await database.ask(`SELECT ${schema}.state_publish($1, $2, $3)`, values, { signal });
    },
    subscribe: topics.subscribe,
  };
}

export function createPostgresLeases(database: StateDatabase, clock: Clock, presence: RenewedPresence): RenewedLeases {
  const { schema } = database;
  const now = `${schema}.state_now($3)`;
  return createRenewedLeases(
    {
      async acquire(name, holder, ttlMs, signal) {
        const sql = `
          INSERT INTO ${schema}.state_lease AS lease VALUES ($1, $2, ${now} + $4)
          ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
          WHERE lease.until <= ${now} RETURNING 1 AS taken`;
        return (await database.ask(sql, [name, holder, database.now(), ttlMs], { signal })).length === 1;
      },
      async renew(name, holder, ttlMs, withinMs) {
        const sql = `UPDATE ${schema}.state_lease SET until = ${now} + $4 WHERE name = $1 AND holder = $2 AND until > ${now} RETURNING 1 AS kept`;
        return (await database.ask(sql, [name, holder, database.now(), ttlMs], { withinMs })).length === 1;
      },
      async release(name, holder) {
        await database.ask(`DELETE FROM ${schema}.state_lease WHERE name = $1 AND holder = $2`, [name, holder]);
      },
    },
    clock,
    presence,
  );
}
