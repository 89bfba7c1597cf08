import { existsSync, renameSync } from "node:fs";
import { ArsenalError } from "../../errors/arsenal-error.ts";

/** SQLite's own numbers for a damaged file and for one that is no database. */
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** True where SQLite says that the file itself is broken, as against busy, full or forbidden. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** Keeps a damaged state file for whoever wants to look, out of the way of a new one. Returns the error that says so. */
export function moveAside(file: string, cause: unknown): ArsenalError {
  let number = 1;
  while (existsSync(`${file}.corrupt-${number}`)) number++;
  const kept = `${file}.corrupt-${number}`;
  for (const side of ["", "-wal", "-shm"]) if (existsSync(file + side)) renameSync(file + side, kept + side);
  const why = cause instanceof Error ? cause.message : String(cause);
  const fix = "Ask again for what waited for an approval, and check what calls with an idempotency key did.";
  return new ArsenalError(
    "STORE_FAILED",
    `The state file ${file} was damaged (${why}) and is now ${kept}; a new, empty one takes its place. ${fix}`,
    { field: "state.file", value: file, fix, cause },
  );
}
