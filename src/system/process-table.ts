import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process, as another one on the same machine can find it. */
interface ProcessRecord {
  readonly pid: number;
  /** When it started, as Linux counts; "-" elsewhere. A pid is used again for another process. */
  readonly start: string;
  readonly host: string;
}

let own: ProcessRecord | undefined;

/** Describes this process in one line of text, to those that share a file or a store with it. */
export function describeProcess(): string {
  const { pid, start, host } = ownRecord();
  return `${pid} ${start} ${host}`;
}

/** True if the description is of a process that can be seen from here, so that `hasEnded` knows whether it still runs. */
export function isVisible(description: string): boolean {
  return read(description).host === ownRecord().host;
}

/** True if the process with that description has certainly ended. Processes of other machines and containers cannot be seen from here. */
export function hasEnded(description: string): boolean {
  const { pid, start, host } = read(description);
  const self = ownRecord();
  if (host !== self.host || !Number.isSafeInteger(pid) || pid <= 0) return false;
  if (!isRunning(pid)) return true;
  const now = statOf(pid);
  return now !== undefined && (now.isDead || (start !== "-" && now.start !== start));
}

/** True if there is a process with this id. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}

function ownRecord(): ProcessRecord {
  return (own ??= { pid: process.pid, start: statOf(process.pid)?.start ?? "-", host: hostIdentity() });
}

function read(description: string): ProcessRecord {
  const [pid = "", start = "", ...host] = description.split(" ");
  return { pid: Number(pid), start, host: host.join(" ") };
}

/** Tells apart machines, their restarts, and containers with pids of their own, which may all have one host name. */
function hostIdentity(): string {
  const parts = [hostname()];
  if (process.platform === "linux") {
    try {
      parts.push(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), readlinkSync("/proc/self/ns/pid"));
    } catch {
      // Without them nobody can tell that a pid means the same process here and there.
      parts.push(`${process.pid}`, `${performance.timeOrigin}`);
    }
  }
  return parts.join(" ");
}

/** What Linux says about a process; undefined if it says nothing. */
function statOf(pid: number): { readonly isDead: boolean; readonly start: string } | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // After the name, which is in parentheses and may hold anything: the state first, the start as the 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { isDead: fields[0] === "Z" || fields[0] === "X", start: fields[19] ?? "-" };
  } catch {
    return undefined;
  }
}
