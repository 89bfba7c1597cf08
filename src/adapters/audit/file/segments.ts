import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const DIGITS = 15;

/** The name a full file gets: `audit.jsonl` becomes `audit.jsonl.000000000012345`, by the last record in it. */
export function segmentName(file: string, lastSeq: number): string {
  return `${file}.${String(lastSeq).padStart(DIGITS, "0")}`;
}

/** The full files of a log, oldest first. */
export async function fullSegments(file: string): Promise<readonly string[]> {
  const start = `${basename(file)}.`;
  const names = await readdir(dirname(file)).catch((): string[] => []);
  return names
    .filter((name) => name.startsWith(start) && new RegExp(`^\\d{${DIGITS}}$`).test(name.slice(start.length)))
    .sort()
    .map((name) => join(dirname(file), name));
}

/** Every file of a log, oldest first: the full ones, and the one that is written to where it is there. */
export async function auditFiles(file: string): Promise<readonly string[]> {
  const active = await stat(file).then(
    () => [file],
    () => [],
  );
  return [...(await fullSegments(file)), ...active];
}
