import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { describeProcess, hasEnded, isVisible } from "./process-table.ts";

/** A lock older than this belongs to nobody: everything done under one ends sooner. */
const ABANDONED_MS = 120_000;
/** How often a process renews its lock, and after what time without it the process counts as gone if it cannot be seen from here. */
const RENEW_MS = 3_000;
const SILENT_MS = 10_000;
const PAUSE_MS = 20;

/** Runs `work` while no other process holds the lock file, and waits for its turn if one does. */
export async function withFileLock<T>(
  lockPath: string,
  work: () => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const owner = `${describeProcess()}\n${randomUUID()}`;
  await mkdir(dirname(lockPath), { recursive: true, mode: 0o700 });
  const silence = createSilence(clock);
  const giveUpAt = clock.now() + 2 * ABANDONED_MS;
  while (!(await take(lockPath, owner))) {
    if (clock.now() > giveUpAt)
      throw new ArsenalError("STORE_FAILED", `The lock ${lockPath} is held by another process and is not released.`, {
        fix: `If no other toolarsenal runs, remove ${lockPath}.`,
      });
    await removeAbandoned(lockPath, silence);
    await pause(PAUSE_MS + Math.random() * PAUSE_MS);
  }
  const stopRenewing = renewEvery(lockPath, clock);
  try {
    return await work();
  } finally {
    stopRenewing();
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

/** Touches the lock while it is held, for those who cannot see this process. Returns what ends it. */
function renewEvery(lockPath: string, clock: Clock): () => void {
  const until = clock.now() + ABANDONED_MS;
  let cancel = next();
  function next(): () => void {
    return clock.after(RENEW_MS, renew, { background: true });
  }
  function renew(): void {
    const now = new Date();
    void utimes(lockPath, now, now).catch(() => undefined);
    if (clock.now() < until) cancel = next();
  }
  return () => cancel();
}

type Silence = ReturnType<typeof createSilence>;

/** Measures by this process's own clock how long a lock has not changed: the clocks of machines differ. */
function createSilence(clock: Clock) {
  let last = "";
  let since = 0;
  return (lock: string): number => {
    if (lock !== last) [last, since] = [lock, clock.now()];
    return clock.now() - since;
  };
}

/** Removes the lock of a process that was killed. It is moved first and looked at again: another who noticed may have taken its place. */
async function removeAbandoned(lockPath: string, silence: Silence): Promise<void> {
  const owner = await ownerOf(lockPath);
  if (owner === undefined || !(await isAbandoned(lockPath, owner, silence))) return;
  const aside = `${lockPath}.${randomUUID()}`;
  try {
    await rename(lockPath, aside);
  } catch {
    return;
  }
  if ((await ownerOf(aside)) !== owner) await link(aside, lockPath).catch(() => undefined);
  await rm(aside, { force: true });
}

async function isAbandoned(lockPath: string, owner: string, silence: Silence): Promise<boolean> {
  let renewedAt: number;
  try {
    renewedAt = (await stat(lockPath)).mtimeMs;
  } catch {
    return false;
  }
  // An empty lock is one that its owner is about to sign, or was killed before.
  const [description = ""] = owner.split("\n");
  if (hasEnded(description) || Date.now() - renewedAt > ABANDONED_MS) return true;
  return silence(`${owner} ${renewedAt}`) > SILENT_MS && !isVisible(description);
}

async function ownerOf(lockPath: string): Promise<string | undefined> {
  try {
    return await readFile(lockPath, "utf8");
  } catch {
    return undefined;
  }
}
