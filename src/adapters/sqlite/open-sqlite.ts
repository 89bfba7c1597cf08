import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { dirname } from "node:path";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { makeFolderSync } from "../../system/make-folder.ts";

type Sqlite = { readonly DatabaseSync: typeof DatabaseSync };

let loaded: Sqlite | undefined;

/** Loads Node's own SQLite on first use, without the warning of some versions of Node. */
export function loadSqlite(): Sqlite {
  loaded ??= withoutWarning(() => process.getBuiltinModule("node:sqlite"));
  if (loaded !== undefined) return loaded;
  throw fixable("LIBRARY_MISSING", `This Node (${process.version}) has no node:sqlite.`, "Use Node 22.19 or later.");
}

/** Suppresses Node 22's warning that SQLite is experimental, because stderr belongs to the host program. Other warnings pass. */
function withoutWarning<Value>(load: () => Value): Value {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]) => {
    if (typeof warning === "string" && warning.startsWith("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** How long a statement waits for another process's transaction, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5_000;

/** SQLite's code for a file that another process has locked. */
export const SQLITE_BUSY = 5;

/** True if another process has locked the file. */
export function isBusy(error: unknown): boolean {
  const { errcode, cause } = (error ?? {}) as { readonly errcode?: number; readonly cause?: unknown };
  return errcode === SQLITE_BUSY || (cause !== undefined && isBusy(cause));
}

/** Identifies a kind of database file. */
export interface SqliteFile {
  /** The subject of messages: "The state file". */
  readonly what: string;
  /** The setting with the file's path. */
  readonly field: string;
  /** Identifies our files. */
  readonly applicationId: number;
  /** The schema version that this release writes. */
  readonly schema: number;
  /** How long a statement waits for another process's transaction, in milliseconds. The wait blocks this process. Defaults to five seconds. */
  readonly busyTimeoutMs?: number;
}

/** Opens a database file in WAL mode, only for this user, and creates its folder. `:memory:` is a database without a file. */
export function openSqlite(file: string, kind: SqliteFile): DatabaseSync {
  if (file !== ":memory:") {
    makeFolderSync(dirname(file), 0o700);
    // A missing file is created before SQLite creates it with a wider mode. Its side files then get the same mode. An existing file is never opened
    // here: closing it would release the locks of other handles in this process, and the next process would consider the log unused.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  }
  const { DatabaseSync: Database } = loadSqlite();
  const { busyTimeoutMs = BUSY_TIMEOUT_MS } = kind;
  const database = new Database(file, { timeout: busyTimeoutMs });
  try {
    // Checked before any change, because the file may belong to another program.
    schemaOf(database, file, kind);
    if (file !== ":memory:") chmodSync(file, 0o600);
    beginLog(database, busyTimeoutMs);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Returns the schema version of a file; 0 for a new file. Throws if this release cannot use it. */
export function schemaOf(
  database: DatabaseSync,
  file: string,
  { what, field, applicationId, schema }: SqliteFile,
): number {
  const read = (pragma: string): number => Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  const version = read("user_version");
  const isNew = version === 0 && read("schema_version") === 0;
  const isOurs = isNew || read("application_id") === applicationId;
  if (isOurs && version <= schema) return version;
  const why = isOurs
    ? `was written by a later release (schema ${version}, this release knows ${schema})`
    : "belongs to another program";
  const fix = isOurs ? "Use that release, or another file." : `Name another file as ${field}.`;
  throw fixable("STORE_FAILED", `${what} ${file} ${why}.`, fix, { field, value: file });
}

/** Describes a failure of a file, and the fix. */
export function sqliteFailure(
  file: string,
  { what, field }: SqliteFile,
  cause: unknown,
  fix = `Check that the folder can be written and has room, and that no other program holds the file, or set ${field} to another file.`,
): ArsenalError {
  const problem = `${what} ${file} cannot be used: ${messageOf(cause)}.`;
  return fixable("STORE_FAILED", problem, fix, { field, value: file, cause });
}

/** Runs a step in an exclusive write transaction. Rolls back if the step throws. */
export function inTransaction<Value>(database: DatabaseSync, step: () => Value): Value {
  database.exec("BEGIN IMMEDIATE");
  try {
    const value = step();
    database.exec("COMMIT");
    return value;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Starts WAL mode. If two processes create a file at the same time, SQLite reports a lock to one of them without waiting; that process retries. */
function beginLog(database: DatabaseSync, busyTimeoutMs: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  // Measured by the system clock, because SQLite itself waits for other locks.
  for (const startedAt = performance.now(); ;) {
    try {
      return database.exec("PRAGMA journal_mode = WAL");
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt >= busyTimeoutMs) throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}
