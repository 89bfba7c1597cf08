import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { dirname, resolve } from "node:path";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import type { State } from "../../state/state.port.ts";
import { STATE_LOST, type StateLoss } from "../../guard/state-loss.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { disappeared, isDamage, moveAside, wasMovedAside } from "./move-aside.ts";

export interface SqliteStateOptions {
  /** Its folder is created. Only this user can read the file. */
  readonly file: string;
  readonly clock?: Clock;
  /** Called when the file turns out damaged, deleted or replaced, with the error that the current operation rejects with. */
  readonly onLost?: (error: ArsenalError) => void;
}

/** How long a write waits for another process's, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** SQLite's number for a file that somebody else has locked. */
const SQLITE_BUSY = 5;

/** Writes between two looks for what has expired. */
const WRITES_A_SWEEP = 256;

/** Changes that are written before everybody else in this process gets a turn. */
const CHANGES_A_TURN = 256;

const SCHEMA_VERSION = 1;
/** "TAST": says whose file it is. */
const APPLICATION_ID = 0x54_41_53_54;

const SCHEMA = `
  CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL, expires_at REAL) STRICT, WITHOUT ROWID;
  CREATE TABLE last_version (value INTEGER NOT NULL) STRICT;
  INSERT INTO last_version VALUES (0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};`;

const LIVE = "(expires_at IS NULL OR expires_at > :now)";

interface Row {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

interface Opened {
  readonly database: DatabaseSync;
  /** Which file was opened: another one may stand at its path later. */
  readonly identity: string | undefined;
  readonly get: StatementSync;
  readonly list: StatementSync;
  readonly put: StatementSync;
  readonly remove: StatementSync;
  readonly nextVersion: StatementSync;
  readonly sweep: StatementSync;
}

/** A change that waits to be written. */
interface Change {
  /** Writes it, and returns what tells whoever asked, once it is on the disk. */
  write(opened: Opened): () => void;
  reject(error: unknown): void;
}

/**
 * Keeps state in one SQLite file, which any number of processes on this machine may share. It is opened on first use. If the file is
 * damaged, deleted or replaced, the operation that notices rejects, and a new file begins that remembers the loss.
 */
export function sqliteState({ file: given, clock = systemClock, onLost }: SqliteStateOptions): State {
  const file = resolve(given);
  let opened: Opened | undefined;
  let closed = false;
  let writes = 0;
  /** Why the earlier file was lost, until the new one says so. */
  let loss: string | undefined;
  const waiting: Change[] = [];

  /** Runs a step on the open database. If the file turns out to be lost, the next step uses the new one. */
  function using<Value>(signal: AbortSignal | undefined, step: (opened: Opened) => Value): Value {
    signal?.throwIfAborted();
    if (closed) throw new ArsenalError("CLOSED", "This state was closed and keeps nothing more. Create a new one.");
    try {
      if (!isInPlace()) throw beginAnew(disappeared(file));
      return step((opened ??= openNow()));
    } catch (cause) {
      if (isArsenalError(cause)) throw cause;
      if (!isDamage(cause)) throw failure(file, cause);
      // Another process may have moved it aside already.
      throw beginAnew(isInPlace() ? moveAside(file, cause) : disappeared(file));
    }
  }

  /** False if the file that was opened is no longer the one at its path. */
  function isInPlace(): boolean {
    return opened === undefined || identityOf(file) === opened.identity;
  }

  function openNow(): Opened {
    const parts = open(file, clock, loss);
    loss = undefined;
    return parts;
  }

  /** Opens the file that takes the lost one's place at once, so that the loss is remembered whatever happens next. */
  function beginAnew(lost: ArsenalError): ArsenalError {
    opened?.database.close();
    opened = undefined;
    loss = lost.message;
    onLost?.(lost);
    try {
      opened = openNow();
    } catch {
      // The next step tries again, and says why it cannot.
    }
    return lost;
  }

  /**
   * A change sees and leaves the file as no other process changes it in between. Waiting for the disk takes far longer than writing, so changes
   * that are asked for at the same time wait for it together.
   */
  function changing<Value>(signal: AbortSignal | undefined, step: (opened: Opened) => Value): Promise<Value> {
    return using(signal, () => {
      const { promise, resolve: done, reject } = Promise.withResolvers<Value>();
      // Not before everybody else had a turn, however long the chain of changes is of which each waits for the one before.
      if (waiting.length === 0) setImmediate(writeSome);
      waiting.push({
        write(parts) {
          const value = step(parts);
          return () => done(value);
        },
        reject,
      });
      return promise;
    });
  }

  function writeSome(): void {
    writeTogether(waiting.splice(0, CHANGES_A_TURN));
    if (waiting.length > 0) setImmediate(writeSome);
  }

  function writeTogether(changes: readonly Change[]): void {
    try {
      const settle = using(undefined, (parts) => {
        parts.database.exec("BEGIN IMMEDIATE");
        try {
          const written = changes.map(({ write }) => write(parts));
          parts.database.exec("COMMIT");
          return written;
        } catch (error) {
          if (parts.database.isTransaction) parts.database.exec("ROLLBACK");
          throw error;
        }
      });
      for (const done of settle) done();
    } catch (error) {
      for (const { reject } of changes) reject(error);
    }
  }

  function find({ get }: Opened, key: string): Row | undefined {
    return get.get({ key, now: clock.now() }) as Row | undefined;
  }

  return {
    name: "sqlite",

    async get(key, { signal } = {}) {
      const row = using(signal, (parts) => find(parts, key));
      return row && { value: JSON.parse(row.value), version: row.version };
    },

    async set(key, value, { ifVersion, expiresAt, signal } = {}) {
      const text = toText(key, value);
      return changing(signal, (parts) => {
        if (ifVersion !== undefined && (find(parts, key)?.version ?? "absent") !== ifVersion) return false;
        const { value: version } = parts.nextVersion.get() as { readonly value: number };
        parts.put.run({ key, value: text, version, expiresAt: expiresAt ?? null });
        if (++writes % WRITES_A_SWEEP === 0) parts.sweep.run({ now: clock.now() });
        return true;
      });
    },

    async delete(key, { ifVersion, signal } = {}) {
      return changing(signal, (parts) => {
        const row = find(parts, key);
        if (row === undefined || (ifVersion !== undefined && row.version !== ifVersion)) return false;
        parts.remove.run({ key });
        return true;
      });
    },

    async list(prefix, { signal } = {}) {
      const rows = using(signal, ({ list }) => list.all({ prefix, now: clock.now() }) as unknown as readonly Row[]);
      return rows.map(({ key, value, version }) => ({ key, value: JSON.parse(value), version }));
    },

    async close() {
      if (waiting.length > 0) writeTogether(waiting.splice(0));
      closed = true;
      opened?.database.close();
      opened = undefined;
    },
  };
}

/** Identifies the file at a path; undefined if there is none, or it was emptied. */
function identityOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined || stat.size === 0 ? undefined : `${stat.dev}:${stat.ino}`;
}

function open(file: string, clock: Clock, lost?: string): Opened {
  const why = lost ?? (!existsSync(file) && wasMovedAside(file) ? `${file} was damaged and moved aside` : undefined);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Made before SQLite makes it, which would let others read it; its side files then get the same mode.
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    // A used approval must stay used when the power fails, so every change is on the disk before it counts.
    database.exec("PRAGMA synchronous = FULL");
    beginLog(database);
    prepareSchema(database, file, why === undefined ? undefined : { at: clock.now(), why });
    return {
      database,
      identity: identityOf(file),
      get: database.prepare(`SELECT key, value, version FROM state WHERE key = :key AND ${LIVE}`),
      list: database.prepare(
        `SELECT key, value, version FROM state WHERE key >= :prefix AND key < :prefix || char(0x10FFFF) AND ${LIVE}`,
      ),
      put: database.prepare("INSERT OR REPLACE INTO state VALUES (:key, :value, :version, :expiresAt)"),
      remove: database.prepare("DELETE FROM state WHERE key = :key"),
      nextVersion: database.prepare("UPDATE last_version SET value = value + 1 RETURNING value"),
      sweep: database.prepare("DELETE FROM state WHERE expires_at <= :now"),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Of two processes that begin a new file at once, SQLite tells one at once that it is locked, however long it may wait. It tries again. */
function beginLog(database: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += 5) {
    try {
      return database.exec("PRAGMA journal_mode = WAL");
    } catch (error) {
      if ((error as { readonly errcode?: number }).errcode !== SQLITE_BUSY || waitedMs >= BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

function prepareSchema(database: DatabaseSync, file: string, loss: StateLoss | undefined): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = numberOf(database, "user_version");
    const isNew = version === 0 && numberOf(database, "schema_version") === 0;
    if (isNew) database.exec(SCHEMA);
    else if (numberOf(database, "application_id") !== APPLICATION_ID)
      throw unusable(file, "is a database of another program", "Name another file as state.file.");
    else if (version > SCHEMA_VERSION)
      throw unusable(file, `was written by a later release (schema ${version})`, "Use that release, or another file.");
    if (loss !== undefined)
      database.prepare("INSERT OR IGNORE INTO state VALUES (?, ?, 0, NULL)").run(STATE_LOST, JSON.stringify(loss));
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function numberOf(database: DatabaseSync, pragma: string): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}

function toText(key: string, value: unknown): string {
  let why = "JSON cannot say it";
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  const fix = "Give plain JSON data.";
  throw new ArsenalError("STORE_FAILED", `The state ${key} cannot be kept: ${why}. ${fix}`, { fix });
}

function unusable(file: string, what: string, fix: string): ArsenalError {
  return new ArsenalError("STORE_FAILED", `The state file ${file} ${what}. ${fix}`, {
    field: "state.file",
    value: file,
    fix,
  });
}

function failure(file: string, cause: unknown): ArsenalError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const fix = "Check that the folder can be written and has room, and that no other program holds the file.";
  return new ArsenalError("STORE_FAILED", `The state file ${file} cannot be used: ${why}. ${fix}`, {
    field: "state.file",
    value: file,
    fix,
    cause,
  });
}
