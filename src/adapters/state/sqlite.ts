import * as setting from "../../tool/shape/shape.ts";
import type { ArsenalError } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { documentText } from "../../state/document-text.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { State } from "../../state/state.port.ts";
import { createSqliteChanges, createSqliteLeases } from "./sqlite-parts/changes.ts";
import { createStateFile, type Database, type StateFile } from "./sqlite-parts/file.ts";
import { nextVersion } from "./sqlite-parts/limit-tables.ts";
import { createSqliteLimits } from "./sqlite-parts/limits.ts";
import { createPoller } from "./sqlite-parts/poller.ts";
import { createSqlitePresence } from "./sqlite-parts/presence.ts";
import { neededSetting } from "../needed-setting.ts";
import type { Surroundings } from "../surroundings.ts";
import { succeeds } from "../../base/turns/succeeds.ts";

export interface SqliteStateOptions {
  /** The file's folder is created. Only this user can read the file. */
  readonly file: string;
  readonly clock?: Clock;
  /** Called with the current operation's error when the file is damaged, deleted or replaced. */
  readonly onLost?: (error: ArsenalError) => void;
}

/** The number of writes between two sweeps for expired entries. */
const WRITES_A_SWEEP = 256;

const LIVE = "(expires_at IS NULL OR expires_at > :now)";
const BEGINS = "key >= :prefix AND key < :prefix || char(0x10FFFF)";

interface DocumentRow {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

/** Keeps state in one SQLite file, for any number of processes on this machine. If the file is lost, a new file is created that records the loss. */
export function sqliteState({ file: path, clock = systemClock, onLost }: SqliteStateOptions): SharedState {
  const file = createStateFile(path, { clock, onLost });
  const poller = createPoller(file, clock);
  const presence = createSqlitePresence(file, clock);
  const limits = createSqliteLimits(file, poller, clock, presence);
  const leases = createSqliteLeases(file, clock, presence);
  let closed = false;
  return {
    name: "sqlite",
    documents: createDocuments(file, clock),
    limits,
    changes: createSqliteChanges(file, poller, clock),
    leases,
    presence,
    healthCheck: () =>
      succeeds(() =>
        file.change((database) => database.run("UPDATE last_version SET value = value"), { durable: false }),
      ),
    async close() {
      if (closed) return;
      closed = true;
      limits.close();
      void leases.close();
      presence.close().catch(() => {});
      poller.close();
      file.close();
    },
  };
}

function createDocuments(file: StateFile, clock: Clock): State {
  let writes = 0;

  function find(database: Database, key: string): DocumentRow | undefined {
    const sql = `SELECT key, value, version FROM state WHERE key = :key AND ${LIVE}`;
    return database.get<DocumentRow>(sql, { key, now: clock.now() });
  }

  return {
    async get(key, { signal } = {}) {
      const row = file.read((database) => find(database, key), signal);
      return row && { value: JSON.parse(row.value), version: row.version };
    },

    async set(key, value, { ifVersion, expiresAt, signal } = {}) {
      const text = documentText(key, value);
      return file.change(
        (database) => {
          if (ifVersion !== undefined && (find(database, key)?.version ?? "absent") !== ifVersion) return false;
          const version = nextVersion(database);
          const sql = "INSERT OR REPLACE INTO state VALUES (:key, :value, :version, :expiresAt)";
          database.run(sql, { key, value: text, version, expiresAt: expiresAt ?? null });
          if (++writes % WRITES_A_SWEEP === 0)
            database.run("DELETE FROM state WHERE expires_at <= :now", { now: clock.now() });
          return true;
        },
        { durable: true, signal },
      );
    },

    async delete(key, { ifVersion, signal } = {}) {
      return file.change(
        (database) => {
          const row = find(database, key);
          if (row === undefined || (ifVersion !== undefined && row.version !== ifVersion)) return false;
          return database.run("DELETE FROM state WHERE key = :key", { key }) === 1;
        },
        { durable: true, signal },
      );
    },

    async list(prefix, { after = "", limit = -1, signal } = {}) {
      const sql = `SELECT key, value, version FROM state WHERE ${BEGINS} AND key > :after AND ${LIVE} ORDER BY key LIMIT :limit`;
      const values = { prefix, after, limit, now: clock.now() };
      const rows = file.read((database) => database.all<DocumentRow>(sql, values), signal);
      return rows.map(({ key, value, version }) => ({ key, value: JSON.parse(value), version }));
    },

    async keys(prefix, { signal } = {}) {
      const sql = `SELECT key FROM state WHERE ${BEGINS} AND ${LIVE}`;
      const rows = file.read((database) => database.all<DocumentRow>(sql, { prefix, now: clock.now() }), signal);
      return rows.map(({ key }) => key);
    },
  };
}

export const config = setting.object("A SQLite file, which several processes can share.", {
  file: setting.path(
    "For sqlite: the database file, which several processes can share. If type is omitted, setting file selects sqlite. Defaults to ./.toolarsenal/state.sqlite. ':memory:' keeps everything in memory.",
  ),
});

export function create(
  { file }: setting.Filled<typeof config>,
  { clock, emit }: Pick<Surroundings, "clock" | "emit">,
): SharedState {
  if (file === undefined) throw neededSetting("state.file", "sqlite", "Name the file that the state is kept in.");
  return sqliteState({ file, clock, onLost: ({ message }) => emit("state-lost", { message }) });
}

/** Opens the file like the arsenal does. */
export async function check(
  settings: setting.Filled<typeof config>,
  surroundings: Pick<Surroundings, "clock" | "emit">,
): Promise<string> {
  const state = create(settings, surroundings);
  try {
    await state.documents.get("doctor");
  } finally {
    await state.close();
  }
  return `keeps state in ${settings.file ?? ""}`;
}
