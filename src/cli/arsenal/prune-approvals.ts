import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadSqlite } from "../../adapters/state/load-sqlite.ts";
import type { Terminal } from "../command.ts";
import { approvalsFolder } from "./local-approvals.ts";

/** Longer than any approval can be open and remembered: two weeks. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1_000;

/** Removes approval files that nobody has used for a long time. Keeps those that it cannot read or remove. */
export function pruneApprovals(environment: Terminal["environment"]): void {
  const folder = approvalsFolder(environment);
  if (folder === undefined || !existsSync(folder)) return;
  const files = readdirSync(folder).filter((name) => name.endsWith(".sqlite"));
  for (const file of files.map((name) => join(folder, name))) {
    try {
      const parts = [file, `${file}-wal`, `${file}-shm`];
      if (Date.now() - lastWritten(parts) < KEEP_MS || isOpen(file)) continue;
      for (const part of parts) rmSync(part, { force: true });
    } catch {
      // Another process removed it, or it is somebody else's.
    }
  }
}

function lastWritten([file = "", log = ""]: readonly string[]): number {
  return Math.max(...[file, log].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

/** True if a process has the file open: SQLite gives up its log only for the last one. */
function isOpen(file: string): boolean {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    return database.prepare("PRAGMA journal_mode = DELETE").get()?.["journal_mode"] !== "delete";
  } catch {
    return true;
  } finally {
    database.close();
  }
}
