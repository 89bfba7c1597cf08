import { readdirSync, readFileSync } from "node:fs";

/** How many files and sockets a process has open. */
export function openDescriptors(pid: number | "self" = "self"): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Processes of this machine whose environment holds the mark, and so all that a marked process has started. */
export function markedProcesses(mark: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
      } catch {
        // It ended in between, or is somebody else's.
        return false;
      }
    })
    .map(Number);
}
