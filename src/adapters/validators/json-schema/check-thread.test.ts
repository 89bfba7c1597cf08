import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { type CheckThread, createCheckThread } from "./check-thread.ts";

/** Accepts every value, and hangs or dies if it is told to. */
const PROGRAM = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", ({ value }) => {
    if (value === '"hang"') for (;;) {}
    if (value === '"die"') process.exit(3);
    parentPort.postMessage(value === undefined ? { notes: ["n"] } : { same: true });
  });
  parentPort.postMessage({ ready: true });
`;

function setUp(): { readonly thread: CheckThread; readonly workers: Worker[]; advance(ms: number): Promise<void> } {
  const workers: Worker[] = [];
  const clock = createManualClock();
  const start = (): Worker => {
    const worker = new Worker(PROGRAM, { eval: true });
    workers.push(worker);
    return worker;
  };
  return { thread: createCheckThread({ start, clock, timeLimitMs: 2_000 }), workers, advance: clock.advance };
}

const schema = '{"type":"object"}';

describe("the check thread", () => {
  it("starts with the first job, serves all and ends when it is closed", async () => {
    const { thread, workers } = setUp();
    expect(workers).toHaveLength(0);
    expect(await thread.compile(schema)).toEqual(["n"]);
    expect(await Promise.all([thread.check(schema, 1), thread.check(schema, 2)])).toEqual([
      { valid: true, value: 1 },
      { valid: true, value: 2 },
    ]);
    expect(workers).toHaveLength(1);
    await thread.close();
    await thread.close();
    await expect(thread.check(schema, 1)).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("is ended if a check takes too long, and replaced", async () => {
    const { thread, workers, advance } = setUp();
    await thread.compile(schema);
    const hanging = thread.check(schema, "hang");
    const refused = expect(hanging).rejects.toMatchObject({
      code: "TOOL_INVALID",
      message: expect.stringContaining("more than 2000 ms"),
    });
    const next = thread.check(schema, "next");
    const [stuck] = workers;
    if (!stuck) throw new Error("no thread was started");
    const exited = once(stuck, "exit");
    await advance(2_000);
    await refused;
    expect(await next).toEqual({ valid: true, value: "next" });
    expect(workers).toHaveLength(2);
    await exited;
    await thread.close();
  });

  it("is replaced if it dies", async () => {
    const { thread, workers } = setUp();
    await thread.compile(schema);
    await expect(thread.check(schema, "die")).rejects.toMatchObject({
      code: "TOOL_INVALID",
      message: expect.stringContaining("died"),
    });
    expect(await thread.check(schema, "next")).toEqual({ valid: true, value: "next" });
    expect(workers).toHaveLength(2);
    await thread.close();
  });
});
