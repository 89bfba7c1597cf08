import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../../base/crypto.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { readExisting } from "./edit-files.ts";
import { PRIVATE_FOLDER } from "./gather.ts";

export interface WrittenFile {
  readonly client: string;
  readonly file: string;
  readonly backup: string;
  /** The hash of the text that setup wrote, to detect later changes. */
  readonly sha256: string;
}

/** The result of an undo, for one file. */
export interface UndoneFile extends Pick<WrittenFile, "client" | "file" | "backup"> {
  readonly outcome: "restored" | "refused";
  /** Why the file was not restored. */
  readonly problem?: string;
}

/** The file that records the runs of `setup --write-clients`, oldest first, in the private folder next to arsenal.yaml. */
const recordOf = (target: string): string => join(dirname(target), PRIVATE_FOLDER, "clients.json");

async function readRuns(target: string): Promise<readonly (readonly WrittenFile[])[]> {
  const file = recordOf(target);
  const text = await readExisting(file);
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    if (isPlainObject(value) && Array.isArray(value["runs"])) return value["runs"] as (readonly WrittenFile[])[];
  } catch {
    // Reported below.
  }
  const fix = "Restore the clients' files from their copies, FILE.bak-TIME, and delete it.";
  throw fixable("INPUT_INVALID", `${file} is not a record of setup.`, fix, { field: file });
}

async function writeRuns(target: string, runs: readonly (readonly WrittenFile[])[]): Promise<void> {
  const file = recordOf(target);
  if (runs.length === 0) return rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${JSON.stringify({ runs }, undefined, 2)}\n`, { mode: 0o600 });
}

/** Records the clients' files of one run, so that `undoLastRun` can restore them. */
export async function recordRun(
  target: string,
  files: readonly (Omit<WrittenFile, "sha256"> & { readonly text: string })[],
): Promise<void> {
  if (files.length === 0) return;
  const run = files.map(({ text, ...written }) => ({ ...written, sha256: sha256(text) }));
  await writeRuns(target, [...(await readRuns(target)), run]);
}

/**
 * Restores the files of the last run, byte for byte, and removes the copies. A file that was changed since then is skipped and stays in the record.
 * Returns an empty list if there is nothing to undo.
 */
export async function undoLastRun(
  target: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<readonly UndoneFile[]> {
  const runs = await readRuns(target);
  const undone = await Promise.all((runs.at(-1) ?? []).map(undoFile));
  if (dryRun || undone.length === 0) return undone;
  for (const { outcome, file, backup } of undone) {
    if (outcome === "refused") continue;
    // Written in place, so that a symbolic link and its permissions stay.
    await writeFile(file, await readFile(backup));
    await rm(backup);
  }
  const left = (runs.at(-1) ?? []).filter((_, index) => undone[index]?.outcome === "refused");
  await writeRuns(target, [...runs.slice(0, -1), ...(left.length === 0 ? [] : [left])]);
  return undone;
}

async function undoFile({ sha256: expected, ...written }: WrittenFile): Promise<UndoneFile> {
  const { file, backup } = written;
  const refused = (problem: string): UndoneFile => ({ ...written, outcome: "refused", problem });
  const [now, before] = await Promise.all([readExisting(file), readExisting(backup)]);
  if (before === undefined) return refused(`its copy ${backup} is gone`);
  if (now === undefined) return refused(`the file is gone. Its copy is ${backup}`);
  if (sha256(now) !== expected)
    return refused(
      `it changed since setup wrote it. Compare it with its copy ${backup}, and take over what you need by hand`,
    );
  return { ...written, outcome: "restored" };
}
