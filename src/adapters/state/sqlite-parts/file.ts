import { existsSync, statSync } from "node:fs";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { resolve } from "node:path";
import { ArsenalError, isArsenalError } from "../../../errors/arsenal-error.ts";
import { STATE_LOST, type StateLoss } from "../../../guard/state-loss.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import {
  BUSY_TIMEOUT_MS,
  inTransaction,
  isBusy,
  openSqlite,
  schemaOf,
  sqliteFailure,
  type SqliteFile,
} from "../../sqlite/open-sqlite.ts";
import { disappeared, isDamage, logDisappeared, moveAside, wasMovedAside } from "../../sqlite/move-aside.ts";

/** After this many changes, other work of this process gets a turn. */
const CHANGES_A_TURN = 256;

/** The retry interval for a file that another process has locked. */
const RETRY_MS = 5;

const SCHEMA_VERSION = 4;
/** "TAST": identifies our files. */
const APPLICATION_ID = 0x54_41_53_54;

const STATE: SqliteFile = {
  what: "The state file",
  field: "state.file",
  applicationId: APPLICATION_ID,
  schema: SCHEMA_VERSION,
};

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL, expires_at REAL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS last_version (value INTEGER NOT NULL) STRICT;
  INSERT INTO last_version SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM last_version);
  CREATE TABLE IF NOT EXISTS window_call (key TEXT, n INTEGER, at REAL NOT NULL, until REAL NOT NULL, PRIMARY KEY (key, n)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS holder (key TEXT, id TEXT, until REAL NOT NULL, PRIMARY KEY (key, id)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS breaker (key TEXT PRIMARY KEY, failures INTEGER NOT NULL, era INTEGER NOT NULL, probe_at REAL, probe_id TEXT, probe_until REAL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS budget (key TEXT, second INTEGER, calls INTEGER NOT NULL, retries INTEGER NOT NULL, PRIMARY KEY (key, second)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS quota (key TEXT PRIMARY KEY, total INTEGER NOT NULL, until REAL NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS waiter (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, request TEXT NOT NULL, until REAL NOT NULL, answer TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS change (n INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, data TEXT NOT NULL, at REAL NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS process (id TEXT PRIMARY KEY, description TEXT NOT NULL, until REAL NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};`;

type Values = Record<string, SQLInputValue>;

/** An open file. Each statement is prepared once. */
export interface Database {
  get<Row>(sql: string, values?: Values): Row | undefined;
  all<Row>(sql: string, values?: Values): readonly Row[];
  run(sql: string, values?: Values): number;
}

interface OpenStateFile extends Database {
  readonly connection: DatabaseSync;
  /** Identifies the opened file, because another file may have its path later. */
  readonly identity: string | undefined;
  /** Identifies the log and the index that SQLite keeps next to the file. If they are deleted, the next process creates new ones. */
  readonly sides: string;
  durable: boolean;
}

interface Change {
  readonly durable: boolean;
  /** Makes the change. Returns a function that answers the caller after the commit. */
  write(database: Database): () => void;
  reject(error: unknown): void;
}

export type StateFile = ReturnType<typeof createStateFile>;

/**
 * Keeps one SQLite file, which is opened on first use. If the file is lost, the operation that detects the loss fails, and a new file is created that
 * records the loss.
 */
export function createStateFile(
  path: string,
  { clock, onLost }: { readonly clock: Clock; readonly onLost?: ((error: ArsenalError) => void) | undefined },
) {
  const file = resolve(path);
  let opened: OpenStateFile | undefined;
  let openings = 0;
  let closed = false;
  /** Why the earlier file was lost. Kept until the new file records it. */
  let loss: string | undefined;
  const waiting: Change[] = [];
  let busySince: number | undefined;

  /** Runs a step on the open database. If the file was lost, the next step uses the new file. */
  function using<Value>(signal: AbortSignal | undefined, step: (opened: OpenStateFile) => Value): Value {
    signal?.throwIfAborted();
    if (closed) throw new ArsenalError("CLOSED", "This state was closed. Create a new one.");
    try {
      if (!isInPlace()) throw beginAnew(disappeared(file));
      return step((opened ??= openNow()));
    } catch (cause) {
      if (isArsenalError(cause)) throw cause;
      if (!isDamage(cause)) throw sqliteFailure(file, STATE, cause);
      // Another process may have already renamed the file.
      throw beginAnew(isInPlace() ? moveAside(file, cause) : disappeared(file));
    }
  }

  /** Returns false if the path now leads to another file. */
  function isInPlace(): boolean {
    return opened === undefined || identityOf(file) === opened.identity;
  }

  /** Fails if SQLite's side files were deleted or replaced. Some processes would then miss the writes of this process. */
  function checkSides({ sides }: OpenStateFile): void {
    if (sidesOf(file) !== sides) throw beginAnew(logDisappeared(file));
  }

  function openNow(): OpenStateFile {
    const parts = open(file, clock, loss);
    loss = undefined;
    openings++;
    return parts;
  }

  /** Creates the replacement of a lost file at once, so the loss is recorded in any case. */
  function beginAnew(lost: ArsenalError): ArsenalError {
    opened?.connection.close();
    opened = undefined;
    loss = lost.message;
    onLost?.(lost);
    try {
      opened = openNow();
    } catch {
      // The next step retries and reports the error.
    }
    return lost;
  }

  function writeSome(): void {
    const changes = waiting.splice(0, CHANGES_A_TURN);
    const error = writeTogether(changes, 0);
    if (error !== undefined && isPatient(error)) {
      waiting.unshift(...changes);
      systemClock.after(RETRY_MS, writeSome);
      return;
    }
    for (const { reject } of error === undefined ? [] : changes) reject(error);
    if (waiting.length > 0) setImmediate(writeSome);
  }

  /** True while a lock is worth waiting for. After five seconds, every change is refused at once until the lock is released. */
  function isPatient(error: unknown): boolean {
    if (!isBusy(error)) return false;
    const now = systemClock.now();
    busySince ??= now;
    return now - busySince < BUSY_TIMEOUT_MS && !closed;
  }

  /** Writes changes in one transaction. Returns the error if it fails. Blocks this process for up to `waitMs`. */
  function writeTogether(changes: readonly Change[], waitMs: number): unknown {
    if (changes.length === 0) return undefined;
    try {
      const durable = changes.some((change) => change.durable);
      const settle = using(undefined, (parts) => {
        const { connection } = parts;
        checkSides(parts);
        if (parts.durable !== durable) {
          connection.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`);
          parts.durable = durable;
        }
        connection.exec(`PRAGMA busy_timeout = ${waitMs}`);
        try {
          return inTransaction(connection, () => changes.map(({ write }) => write(parts)));
        } finally {
          connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
        }
      });
      busySince = undefined;
      for (const done of settle) done();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  return {
    /** Reads at once. Throws the same errors as `change`. */
    read: <Value>(step: (database: Database) => Value, signal?: AbortSignal) => using(signal, step),
    /** Writes in a transaction, together with concurrent changes. Resolves when a durable change is on the disk. */
    change: async <Value>(
      step: (database: Database) => Value,
      { durable, signal }: { readonly durable: boolean; readonly signal?: AbortSignal | undefined },
    ): Promise<Value> =>
      using(signal, () => {
        const { promise, resolve: done, reject } = Promise.withResolvers<Value>();
        // Yields first, so a long chain of dependent changes does not block other work.
        if (waiting.length === 0) setImmediate(writeSome);
        waiting.push({
          durable,
          write(database) {
            const value = step(database);
            return () => done(value);
          },
          reject,
        });
        return promise;
      }),
    /** Changes when another process writes the file, or when the file is replaced. */
    version: (): string =>
      using(undefined, (parts) => {
        checkSides(parts);
        return `${openings}:${parts.get<{ data_version: number }>("PRAGMA data_version")?.data_version}`;
      }),
    exists: () => opened !== undefined || existsSync(file),
    close() {
      const changes = closed ? [] : waiting.splice(0);
      const error = writeTogether(changes, BUSY_TIMEOUT_MS);
      for (const { reject } of error === undefined ? [] : changes) reject(error);
      closed = true;
      opened?.connection.close();
      opened = undefined;
    },
  };
}

/** Identifies the file at a path; undefined if it is missing or empty. */
function identityOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined || stat.size === 0 ? undefined : `${stat.dev}:${stat.ino}`;
}

/** Identifies a file's log and index. They exist while a process has the file open. */
function sidesOf(file: string): string {
  const numbers = ["-wal", "-shm"].map((side) => statSync(file + side, { throwIfNoEntry: false })?.ino);
  return numbers.join(" ");
}

function open(file: string, clock: Clock, lost?: string): OpenStateFile {
  const why = lost ?? (!existsSync(file) && wasMovedAside(file) ? `${file} was damaged and moved aside` : undefined);
  const connection = openSqlite(file, STATE);
  try {
    // A used approval must stay used after a power failure.
    connection.exec("PRAGMA synchronous = FULL");
    prepareSchema(connection, file, why === undefined ? undefined : { at: clock.now(), why });
  } catch (error) {
    connection.close();
    throw error;
  }
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) statements.set(sql, (statement = connection.prepare(sql)));
    return statement;
  };
  return {
    connection,
    identity: identityOf(file),
    sides: sidesOf(file),
    durable: true,
    get: <Row>(sql: string, values: Values = {}) => prepared(sql).get(values) as Row | undefined,
    all: <Row>(sql: string, values: Values = {}) => prepared(sql).all(values) as Row[],
    run: (sql, values = {}) => Number(prepared(sql).run(values).changes),
  };
}

function prepareSchema(connection: DatabaseSync, file: string, loss: StateLoss | undefined): void {
  inTransaction(connection, () => {
    if (schemaOf(connection, file, STATE) < SCHEMA_VERSION) connection.exec(SCHEMA);
    if (loss !== undefined)
      connection.prepare("INSERT OR IGNORE INTO state VALUES (?, ?, 0, NULL)").run(STATE_LOST, JSON.stringify(loss));
  });
}
