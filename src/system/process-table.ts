import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Identifies a process to others on the same machine. */
interface ProcessRecord {
  readonly pid: number;
  /** The start time as Linux counts it; "-" on other systems. Distinguishes processes that had the same pid. */
  readonly start: string;
  readonly host: string;
}

let own: ProcessRecord | undefined;

/** Describes this process in one line of text, for processes that share a file or a store with it. */
export function describeProcess(): string {
  const { pid, start, host } = ownRecord();
  return `${pid} ${start} ${host}`;
}

/** Returns true if the described process is visible from here, so that `hasEnded` is reliable. */
export function isVisible(description: string): boolean {
  return read(description).host === ownRecord().host;
}

/** Returns true if the described process has certainly ended. Processes of other machines and containers are not visible. */
export function hasEnded(description: string): boolean {
  const { pid, start, host } = read(description);
  const self = ownRecord();
  if (host !== self.host || !Number.isSafeInteger(pid) || pid <= 0) return false;
  if (!isRunning(pid)) return true;
  const now = statOf(pid);
  return now !== undefined && (now.isDead || (start !== "-" && now.start !== start));
}

/** Returns true if a process with this id exists. */
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

/** Distinguishes machines, their restarts, and containers with their own pids, which may all have the same host name. */
function hostIdentity(): string {
  const parts = [hostname()];
  if (process.platform === "linux") {
    try {
      parts.push(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), readlinkSync("/proc/self/ns/pid"));
    } catch {
      // Without them, a pid cannot be compared between processes.
      parts.push(`${process.pid}`, `${performance.timeOrigin}`);
    }
  }
  return parts.join(" ");
}

/** Returns Linux's record of a process; undefined if it has none. */
export function statOf(pid: number | string) {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The fields after the name, which is in parentheses and may contain anything: state, parent, group, and the start as the 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { isDead: fields[0] === "Z" || fields[0] === "X", group: fields[2], start: fields[19] ?? "-" };
  } catch {
    return undefined;
  }
}
