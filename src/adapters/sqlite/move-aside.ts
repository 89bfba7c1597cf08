import { existsSync, renameSync } from "node:fs";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";

/** SQLite's codes for a damaged file, and for a file that is not a database. */
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** True if SQLite reports that the file itself is damaged, rather than busy, full or forbidden. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** Renames a damaged state file, so a new one can be created and the old one inspected. Returns the error to report. */
export function moveAside(file: string, cause: unknown): ArsenalError {
  let number = 1;
  while (existsSync(asideOf(file, number))) number++;
  const kept = asideOf(file, number);
  for (const side of ["", "-wal", "-shm"]) if (existsSync(file + side)) renameSync(file + side, kept + side);
  return lost(file, `was damaged (${messageOf(cause)}) and is now ${kept}`, cause);
}

/** True if a damaged file with this name was renamed before. */
export function wasMovedAside(file: string): boolean {
  return existsSync(asideOf(file, 1));
}

/** The error for a state file that was deleted or replaced during use. */
export function disappeared(file: string): ArsenalError {
  return lost(file, "was deleted or replaced while it was in use");
}

/** The error for a state file whose write-ahead log was deleted or replaced during use. */
export function logDisappeared(file: string): ArsenalError {
  const what = `lost its write-ahead log (${file}-wal or ${file}-shm was deleted or replaced while it was in use), and with it the latest changes`;
  return lost(file, what, undefined, "the file is used without these changes");
}

function asideOf(file: string, number: number): string {
  return `${file}.corrupt-${number}`;
}

function lost(file: string, what: string, cause?: unknown, then = "a new file replaces it"): ArsenalError {
  const fix =
    "Tools of servers and APIs wait until you accept them: toolarsenal pins list --diff, then toolarsenal pins accept ID, or --all. " +
    "Request waiting approvals again, and check the outcome of calls with an idempotency key.";
  const details = { field: "state.file", value: file, cause };
  return fixable("STORE_FAILED", `The state file ${file} ${what}; ${then}.`, fix, details);
}
