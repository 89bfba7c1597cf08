import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { afterAll, expect, it } from "vitest";
import type { ProgramOutcome } from "../program.ts";
import { threadHost } from "./thread-host.ts";

const bounds = {
  cpuMs: 5_000,
  timeoutS: 60,
  memoryBytes: 8 * 1024 * 1024,
  calls: 10,
  parallelCalls: 1,
  valueBytes: 1_000,
  logBytes: 1_000,
};
// Time stands still, so that nothing is forgotten.
const host = threadHost(bounds, () => 0);
afterAll(() => host.close());

const run = (code: string, caller: string): Promise<ProgramOutcome> => {
  const job = { code, caller, namespaces: [], bounds, seed: "1", now: 0, depth: 1, onCalls: () => {} };
  return host.start({ ...job, signal: new AbortController().signal }).ended;
};

/** The priorities of the threads of programs in this process, and of no others. */
function priorities(): readonly number[] {
  return readdirSync("/proc/self/task").flatMap((task) => {
    const [, name = "", fields = ""] =
      /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/self/task/${task}/stat`, "utf8")) ?? [];
    return name.startsWith("toolarsenal-pro") ? [Number(fields.split(" ")[16])] : [];
  });
}

// because threads have priorities of their own on Linux alone
it.skipIf(process.platform !== "linux")(
  "gives the lowest priority to a caller whose programs compute again and again, each for a short time",
  async () => {
    const short = "for (let n = 0; n < 100_000; n++);";
    await run(short, "heavy");
    expect(priorities()).not.toContain(constants.priority.PRIORITY_LOW);
    for (let n = 0; n < 200; n++) await run(short, "heavy");
    expect(priorities()).toContain(constants.priority.PRIORITY_LOW);
    // Others keep theirs.
    await run("1", "other");
    expect(priorities()).toContain(0);
  },
);
