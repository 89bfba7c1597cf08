import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Every process of a job inherits this variable, including one that leaves the job's process group with `setsid`. */
const MARK = "TOOLARSENAL_JOB";

/** How long processes that keep starting others are pursued, and the polling interval, both in milliseconds. */
const GONE_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 5;

/** Marks the processes of one job, so that processes that left its process group can be found and ended. Only Linux exposes the marks. */
export function createMark() {
  const value = randomUUID();
  const entry = `${MARK}=${value}`;

  /** Returns the marked processes. Checks only processes that are younger than the first one of the job. */
  async function marked(first: number): Promise<readonly number[]> {
    const isLater = (await hasStartedOver(first)) ? () => true : (pid: number) => pid > first;
    const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && isLater(pid) && pid !== process.pid);
    const found = await Promise.all(pids.map(async (pid) => ((await environmentOf(pid)).includes(entry) ? [pid] : [])));
    return found.flat();
  }

  return {
    env: { [MARK]: value },
    /** Kills every process with the mark and waits until they are gone. `first` is the id of the job's first process, which has ended. */
    async endAll(first: number): Promise<void> {
      if (process.platform !== "linux") return;
      for (let waited = 0; waited < GONE_WITHIN_MS; waited += LOOK_EVERY_MS) {
        const pids = await marked(first);
        if (pids.length === 0) return;
        for (const pid of pids) kill(pid);
        await sleep(LOOK_EVERY_MS);
      }
    },
  };
}

/** Returns true if process ids wrapped around since this one was assigned. */
async function hasStartedOver(pid: number): Promise<boolean> {
  const last = (await readFile("/proc/loadavg", "latin1").catch(() => "")).split(" ")[4];
  return !(Number(last) >= pid);
}

/** Returns the variables that a process started with. Empty for other users' processes and for ended ones. */
async function environmentOf(pid: number): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")).split("\0");
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
}
