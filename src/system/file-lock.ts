import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { describeProcess, hasEnded } from "./process-table.ts";

/** A lock older than this belongs to nobody: everything done under one ends sooner. */
const ABANDONED_MS = 120_000;
const PAUSE_MS = 20;

/** Runs `work` while no other process holds the lock file, and waits for its turn if one does. */
export async function withFileLock<T>(lockPath: string, work: () => Promise<T>): Promise<T> {
  const owner = `${describeProcess()}\n${randomUUID()}`;
  await mkdir(dirname(lockPath), { recursive: true, mode: 0o700 });
  const giveUpAt = Date.now() + 2 * ABANDONED_MS;
  while (!(await take(lockPath, owner))) {
    if (Date.now() > giveUpAt)
      throw new ArsenalError("STORE_FAILED", `The lock ${lockPath} is held by another process and is not released.`, {
        fix: `If no other toolarsenal runs, remove ${lockPath}.`,
      });
    await removeAbandoned(lockPath);
    await pause(PAUSE_MS + Math.random() * PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    if ((await ownerOf(lockPath)) === owner) await rm(lockPath, { force: true });
  }
}

async function take(lockPath: string, owner: string): Promise<boolean> {
  try {
    await writeFile(lockPath, owner, { flag: "wx", mode: 0o600 });
    return true;
  } catch (cause) {
    // Windows answers EPERM for a file that is just being removed.
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "EEXIST" || (code === "EPERM" && process.platform === "win32")) return false;
    throw cause;
  }
}

/** Removes the lock of a process that was killed. It is moved first and looked at again: another who noticed may have taken its place. */
async function removeAbandoned(lockPath: string): Promise<void> {
  const owner = await ownerOf(lockPath);
  if (owner === undefined || !(await isAbandoned(lockPath, owner))) return;
  const aside = `${lockPath}.${randomUUID()}`;
  try {
    await rename(lockPath, aside);
  } catch {
    return;
  }
  if ((await ownerOf(aside)) !== owner) await link(aside, lockPath).catch(() => undefined);
  await rm(aside, { force: true });
}

async function isAbandoned(lockPath: string, owner: string): Promise<boolean> {
  try {
    if (Date.now() - (await stat(lockPath)).mtimeMs > ABANDONED_MS) return true;
  } catch {
    return false;
  }
  // An empty lock is one that its owner is about to sign.
  const [description = ""] = owner.split("\n");
  return hasEnded(description);
}

async function ownerOf(lockPath: string): Promise<string | undefined> {
  try {
    return await readFile(lockPath, "utf8");
  } catch {
    return undefined;
  }
}
