import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { expect, it, onTestFinished } from "vitest";
import type { ProgramOutcome, StartedProgram } from "../program.ts";
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
/** Starts a host of its own for a test. Its time stands still, so that nothing is forgotten. */
function openHost(): (code: string, caller: string) => Promise<ProgramOutcome> {
  const host = threadHost(bounds, () => 0);
  onTestFinished(() => host.close());
  return (code, caller) => {
    const job = { code, caller, namespaces: [], bounds, seed: "1", now: 0, depth: 1, onCalls: () => {} };
    return host.start({ ...job, signal: new AbortController().signal }).ended;
  };
}

it("runs programs on the same thread, and each finds nothing of those before it", async () => {
  const run = openHost();
  const leaves = [
    "globalThis.left = 1; var kept = 2; Array.prototype.left = 3; Object.prototype.left = 4; 'left'",
    "JSON.parse = () => 5; Math.max = () => 6; console.log('left'); Promise.prototype.then = null; 'left'",
    "const big = []; for (let n = 0; n < 100_000; n++) big.push({ n }); globalThis.big = big; throw new Error('left')",
    "await new Promise(() => {})",
    "for (;;) globalThis.left = { left: globalThis.left };",
  ];
  const look =
    "[typeof left, typeof kept, typeof big, [].left, ({}).left, JSON.parse('1'), Math.max(1, 2), Math.random(), Date.now()]";
  const { value, logs } = await run(look, "a");
  expect(value).toMatch(/^\["undefined","undefined","undefined",null,null,1,2,0\.\d+,0\]$/);
  for (const code of leaves) {
    await run(code, "a");
    expect(await run(look, "a")).toEqual({ value, logs });
  }
});

it("goes on with the next program after one whose results could not be passed to it", async () => {
  const host = threadHost(bounds, () => 0);
  onTestFinished(() => host.close());
  // It stands for any result that the interpreter cannot read, because of its size for example.
  const value = "{";
  const start = (code: string, caller: string): StartedProgram => {
    const started: StartedProgram = host.start({
      code,
      namespaces: [{ name: "t", tools: { read: "t.read" } }],
      caller,
      bounds,
      seed: "1",
      now: 0,
      depth: 1,
      signal: new AbortController().signal,
      onCalls: (calls) => calls.length > 0 && started.reply(calls.map(({ id }) => ({ id, now: 0, value }))),
    });
    return started;
  };
  // Eight programs take all threads, so that the next ones start on these.
  const callers = ["a", "a", "a", "a", "b", "b", "b", "b"];
  const broken = callers.map((caller) => start("await Promise.all([t.read(), t.read(), t.read()]); 1", caller).ended);
  const next = callers.map((caller) => start("2", `next ${caller}`).ended);
  for (const { error } of await Promise.all(broken)) expect(error?.message).toContain("does not fit into the program");
  expect((await Promise.all(next)).map((outcome) => outcome.value)).toEqual(callers.map(() => "2"));
});

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
    const run = openHost();
    const short = "for (let n = 0; n < 50_000; n++);";
    await run(short, "heavy");
    expect(priorities()).not.toContain(constants.priority.PRIORITY_LOW);
    for (let n = 0; n < 1_000 && !priorities().includes(constants.priority.PRIORITY_LOW); n++)
      await run(short, "heavy");
    expect(priorities()).toContain(constants.priority.PRIORITY_LOW);
    // Others keep theirs.
    await run("1", "other");
    expect(priorities()).toContain(0);
  },
);
