import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { makeFolder } from "./make-folder.ts";
import { describeProcess, hasEnded, isVisible } from "./process-table.ts";

/** An older lock counts as abandoned, because all work under a lock ends sooner. */
const ABANDONED_MS = 120_000;
/** Interval in which a process renews its lock. A process on another machine counts as ended if its lock is not renewed for this long. */
const RENEW_MS = 3_000;
const SILENT_MS = 10_000;
const PAUSE_MS = 20;

/** Runs `work` while no other process holds the lock file. Waits for its turn if needed. */
export async function withFileLock<T>(
  lockPath: string,
  work: () => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const owner = `${describeProcess()}\n${randomUUID()}`;
  await makeFolder(dirname(lockPath), 0o700);
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
    // Windows reports EPERM for a file that is being removed.
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "EEXIST" || (code === "EPERM" && process.platform === "win32")) return false;
    throw cause;
  }
}

/** Touches the lock file while the lock is held, for processes on other machines. Returns a function that stops it. */
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

/** Measures how long a lock has not changed. Uses this process's own clock, because the clocks of machines differ. */
function createSilence(clock: Clock) {
  let last = "";
  let since = 0;
  return (lock: string): number => {
    if (lock !== last) [last, since] = [lock, clock.now()];
    return clock.now() - since;
  };
}

/** Removes the lock of a killed process. The lock is moved first and then checked again, because another process may have replaced it. */
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
  const renewedAt = (await stat(lockPath).catch(() => undefined))?.mtimeMs;
  if (renewedAt === undefined) return false;
  // An empty lock has an owner that is about to sign it or was killed before that.
  const [description = ""] = owner.split("\n");
  if (hasEnded(description) || Date.now() - renewedAt > ABANDONED_MS) return true;
  return silence(`${owner} ${renewedAt}`) > SILENT_MS && !isVisible(description);
}

function ownerOf(lockPath: string): Promise<string | undefined> {
  return readFile(lockPath, "utf8").catch(() => undefined);
}
