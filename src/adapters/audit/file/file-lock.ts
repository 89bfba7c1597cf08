import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Clock } from "../../../observe/clock.ts";
import { loadSqlite } from "../../state/load-sqlite.ts";

/** Lets one process at a time do something. */
export interface FileLock {
  hold<Value>(work: () => Promise<Value>): Promise<Value>;
  close(): void;
}

const SQLITE_BUSY = 5;
const POLL_MS = 5;
const PATIENCE_MS = 10_000;

/**
 * A lock that the system takes back from a process that dies: SQLite's, on an empty database of its own. A file that merely exists would
 * stay locked after a crash.
 */
export function createFileLock(file: string, clock: Clock): FileLock {
  let database: DatabaseSync | undefined;
  /** Settles when those who asked before in this process are done: SQLite tells processes apart, not callers. */
  let turn: Promise<unknown> = Promise.resolve();

  function open(): DatabaseSync {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
    const { DatabaseSync } = loadSqlite();
    return new DatabaseSync(file, { timeout: 0 });
  }

  function tryLock(): boolean {
    try {
      database ??= open();
      database.exec("BEGIN EXCLUSIVE");
      return true;
    } catch (error) {
      if (error instanceof Error && "errcode" in error && Number(error.errcode) === SQLITE_BUSY) return false;
      throw error;
    }
  }

  async function acquire(): Promise<void> {
    for (let waited = 0; !tryLock(); waited += POLL_MS) {
      if (waited >= PATIENCE_MS) {
        const fix = "End the process that holds it.";
        throw new ArsenalError("STORE_FAILED", `Another process holds ${file} for too long. ${fix}`, { fix });
      }
      await new Promise<void>((resolve) => void clock.after(POLL_MS, resolve));
    }
  }

  async function hold<Value>(work: () => Promise<Value>): Promise<Value> {
    await acquire();
    try {
      return await work();
    } finally {
      database?.exec("ROLLBACK");
    }
  }

  return {
    hold(work) {
      const held = turn.then(() => hold(work));
      turn = held.catch(() => {});
      return held;
    },
    close() {
      database?.close();
      database = undefined;
    },
  };
}
