import { describe, expect, it } from "vitest";
import { atOnce, createPauses, inTurns, nextTurn, type Steps } from "./event-loop.ts";

/** Counts the turns of the event loop until it is stopped. */
function countTurns(): () => number {
  let turns = 0;
  let running = true;
  const count = (): void => {
    turns++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  return () => {
    running = false;
    return turns;
  };
}

/** Uses the processor for so many milliseconds. */
function work(ms: number): void {
  for (const since = performance.now(); performance.now() - since < ms;);
}

function* steps(count: number, ms: number): Steps<number> {
  for (let step = 0; step < count; step++) {
    work(ms);
    yield;
  }
  return count;
}

describe("nextTurn", () => {
  it("lets one of those who wait go on in each turn", async () => {
    const turns = countTurns();
    const went: number[] = [];
    let passed = 0;
    const watch = (): void => void (passed++, passed < 100 && setImmediate(watch));
    setImmediate(watch);
    await Promise.all(Array.from({ length: 20 }, () => nextTurn().then(() => went.push(passed))));
    expect(turns()).toBeGreaterThanOrEqual(19);
    expect(new Set(went).size).toBeGreaterThanOrEqual(19);
  });
});

describe("steps", () => {
  it("come to the same result at once and in turns", async () => {
    expect(atOnce(steps(5, 0))).toBe(5);
    expect(await inTurns(steps(5, 0))).toBe(5);
  });

  it("give everything else a turn every few milliseconds, and none if they are quick", async () => {
    const slow = countTurns();
    await inTurns(steps(10, 12));
    expect(slow()).toBeGreaterThanOrEqual(9);
    const quick = countTurns();
    await inTurns(steps(10, 0));
    expect(quick()).toBe(0);
  });

  it("reject with what a step throws", async () => {
    function* failing(): Steps<number> {
      yield;
      throw new Error("no");
    }
    await expect(inTurns(failing())).rejects.toThrow("no");
    expect(() => atOnce(failing())).toThrow("no");
  });
});

describe("createPauses", () => {
  it("lets a loop go on until it took long, and again after a turn", async () => {
    const pause = createPauses();
    expect(pause()).toBeUndefined();
    work(12);
    const pausing = pause();
    expect(pausing).toBeInstanceOf(Promise);
    await pausing;
    expect(pause()).toBeUndefined();
  });
});
