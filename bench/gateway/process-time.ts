import { readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second on every platform that Node runs on Linux. */
const MS_PER_TICK = 10;

/** Processor time that a process has used so far over all its threads, without its children, in milliseconds. */
export function processTimeMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name before the last parenthesis may hold spaces; utime and stime are fields 14 and 15 of all.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
