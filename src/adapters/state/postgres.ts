import * as setting from "../../tool/shape/shape.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { documentText } from "../../state/document-text.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { State } from "../../state/state.port.ts";
import type { Surroundings } from "../surroundings.ts";
import type { PostgresClient } from "../postgres/client.ts";
import { filledUrl } from "../postgres/filled-url.ts";
import { SCHEMA } from "../postgres/migrate.ts";
import { openPostgres } from "../postgres/postgres.ts";
import { createPostgresChanges, createPostgresLeases } from "./postgres-parts/changes.ts";
import { createStateDatabase, type StateDatabase } from "./postgres-parts/database.ts";
import { createPostgresLimits } from "./postgres-parts/limits.ts";
import { createPostgresPresence } from "./postgres-parts/presence.ts";

export interface PostgresStateOptions {
  /** `postgres://user:password@host:5432/database`, or a function that returns the URL for each connection. */
  readonly url: string | (() => Promise<string>);
  /** The schema of the tables, which is created. Defaults to `toolarsenal`. */
  readonly schema?: string | undefined;
  /** A pool of the package pg, or PGlite, instead of connecting to `url`. The caller closes it. */
  readonly client?: PostgresClient;
  readonly clock?: Clock;
  /** Uses the clock's time instead of the server's. For tests. @internal */
  readonly ownTime?: boolean;
}

/** The number of writes between two sweeps for expired entries. */
const WRITES_A_SWEEP = 256;

/** The time limit of closing if the server does not respond, in milliseconds. */
const CLOSE_MS = 3_000;

/** Keeps state in PostgreSQL, for any number of processes on any machine. Connects on first use, and uses the server's clock. */
export function postgresState(options: PostgresStateOptions): SharedState {
  const { url, schema = SCHEMA, client, clock = systemClock, ownTime = false } = options;
  const postgres = openPostgres({ url, client, what: "The state", field: "state.url" });
  const database = createStateDatabase(postgres, schema, { clock, ownTime });
  const presence = createPostgresPresence(database, clock);
  const limits = createPostgresLimits(database, clock, presence);
  const leases = createPostgresLeases(database, clock, presence);
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    database.close();
    const late = new Promise<void>((resolve) => void setTimeout(resolve, CLOSE_MS).unref());
    const givenBack = Promise.allSettled([limits.close(), leases.close()]).then(() => presence.close());
    await Promise.race([givenBack.catch(() => {}), late]);
    // Closes at once, except for connections that are being opened.
    await Promise.race([postgres.close(), late]);
  }

  return {
    name: "postgres",
    documents: createDocuments(database),
    limits,
    changes: createPostgresChanges(database, clock),
    leases,
    presence,
    async healthCheck() {
      try {
        const sql = "SELECT current_setting('transaction_read_only') = 'off' AS writable";
        const [row] = await database.ask<{ writable: boolean }>(sql, []);
        return row?.writable === true;
      } catch {
        return false;
      }
    },
    close: () => (closing ??= close()),
  };
}

interface DocumentRow {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

function createDocuments(database: StateDatabase): State {
  const { schema } = database;
  const table = `${schema}.state_document`;
  const now = `${schema}.state_now($1)`;
  const begins = `key LIKE $2 AND (expires_at IS NULL OR expires_at > ${now})`;
  const patternOf = (prefix: string): string => `${prefix.replaceAll(/[\\%_]/g, "\\$&")}%`;
  let writes = 0;

  /** Runs a statement whose first value is the time. Returns true if it changed a row. */
  async function changes(sql: string, values: readonly unknown[], signal: AbortSignal | undefined): Promise<boolean> {
    if (++writes % WRITES_A_SWEEP === 0)
      void database.ask(`DELETE FROM ${table} WHERE expires_at <= ${now}`, [database.now()]).catch(() => {});
    const rows = await database.ask(`${sql} RETURNING 1 AS changed`, [database.now(), ...values], { signal });
    return rows.length > 0;
  }

  return {
    async get(key, { signal } = {}) {
      const sql = `SELECT value, version::float8 AS version FROM ${table} WHERE key = $2 AND (expires_at IS NULL OR expires_at > ${now})`;
      const [row] = await database.ask<DocumentRow>(sql, [database.now(), key], { signal });
      return row && { value: JSON.parse(row.value), version: row.version };
    },

    async set(key, value, { ifVersion, expiresAt = null, signal } = {}) {
      const values = [key, documentText(key, value), expiresAt];
      const version = `nextval('${schema.replaceAll("'", "''")}.state_version')`;
      if (typeof ifVersion === "number") {
        const sql = `UPDATE ${table} SET value = $3, expires_at = $4, version = ${version}
          WHERE key = $2 AND version = $5 AND (expires_at IS NULL OR expires_at > ${now})`;
        return changes(sql, [...values, ifVersion], signal);
      }
      const sql = `INSERT INTO ${table} AS kept VALUES ($2, $3, ${version}, $4)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
        WHERE $5 OR kept.expires_at <= ${now}`;
      return changes(sql, [...values, ifVersion === undefined], signal);
    },

    async delete(key, { ifVersion = null, signal } = {}) {
      const sql = `DELETE FROM ${table} WHERE key = $2 AND (expires_at IS NULL OR expires_at > ${now}) AND ($3::bigint IS NULL OR version = $3)`;
      return changes(sql, [key, ifVersion], signal);
    },

    async list(prefix, { after = "", limit = null, signal } = {}) {
      const sql = `SELECT key, value, version::float8 AS version FROM ${table} WHERE ${begins} AND key > $3 ORDER BY key LIMIT $4`;
      const rows = await database.ask<DocumentRow>(sql, [database.now(), patternOf(prefix), after, limit], { signal });
      return rows.map(({ key, value, version }) => ({ key, value: JSON.parse(value), version }));
    },

    async keys(prefix, { signal } = {}) {
      const sql = `SELECT key FROM ${table} WHERE ${begins}`;
      const rows = await database.ask<Pick<DocumentRow, "key">>(sql, [database.now(), patternOf(prefix)], { signal });
      return rows.map(({ key }) => key);
    },
  };
}

export const config = setting.object("A PostgreSQL database.", {
  schema: setting.text(
    "For postgres: the schema that contains the tables. It is created if missing. Defaults to toolarsenal.",
  ),
});

export const needs = { url: "Write postgres://USER@HOST:5432/DATABASE." };

type Settings = setting.Filled<typeof config> & { readonly url?: string | undefined };

export function create({ url = "", schema }: Settings, { clock, secrets }: Surroundings): SharedState {
  const use = { scope: "state", field: "state.url" };
  return postgresState({ url: () => filledUrl(url, secrets, use), schema, clock });
}

/** Connects like the arsenal does, and writes. */
export async function check(settings: Settings, surroundings: Surroundings): Promise<string> {
  const state = create(settings, surroundings);
  try {
    await state.documents.set("doctor", true, { expiresAt: surroundings.clock.now() + 1_000 });
  } finally {
    await state.close();
  }
  return `keeps state in PostgreSQL, schema ${settings.schema ?? SCHEMA}`;
}
