import { mkdirSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Creates a folder with its parents. Node's recursive `mkdir` never returns below `/proc`, where creating a folder fails with ENOENT. */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  try {
    await mkdir(folder, mode);
  } catch (error) {
    if (!lacksParent(folder, error)) return acceptFolder(folder, error);
    await makeFolder(dirname(folder), mode);
    await mkdir(folder, mode).catch((again: unknown) => acceptFolder(folder, again));
  }
}

/** As `makeFolder`, but blocks. */
export function makeFolderSync(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (!lacksParent(folder, error)) return acceptFolder(folder, error);
    makeFolderSync(dirname(folder), mode);
    try {
      mkdirSync(folder, mode);
    } catch (again) {
      acceptFolder(folder, again);
    }
  }
}

/** True if creating the parent may help. */
function lacksParent(folder: string, error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT" && dirname(folder) !== folder;
}

/** Throws the error unless the folder exists. */
function acceptFolder(folder: string, error: unknown): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
}
