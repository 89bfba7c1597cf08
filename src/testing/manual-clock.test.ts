import { describe, expect, it } from "vitest";
import { createManualClock } from "./manual-clock.ts";

describe("manual clock", () => {
  it("runs due timers in the order they fall due, each at its own time", async () => {
    const clock = createManualClock(1000);
    const seen: string[] = [];
    clock.after(20, () => seen.push(`b at ${clock.now()}`));
    clock.after(10, () => seen.push(`a at ${clock.now()}`));
    clock.after(20, () => seen.push(`c at ${clock.now()}`));
    clock.after(31, () => seen.push("too late"));
    await clock.advance(30);
    expect(seen).toEqual(["a at 1010", "b at 1020", "c at 1020"]);
    expect(clock.now()).toBe(1030);
    expect(clock.pending).toBe(1);
  });

  it("lets promises settle between timers, and runs the timers they set", async () => {
    const clock = createManualClock();
    const seen: number[] = [];
    const tick = async (): Promise<void> => {
      for (let count = 0; count < 3; count++) {
        await new Promise<void>((resolve) => void clock.after(10, resolve));
        seen.push(clock.now());
      }
    };
    const ticking = tick();
    await clock.advance(25);
    expect(seen).toEqual([10, 20]);
    await clock.advance(5);
    await ticking;
    expect(seen).toEqual([10, 20, 30]);
  });

  it("does not run a timer that was cancelled", async () => {
    const clock = createManualClock();
    let ran = false;
    const cancel = clock.after(10, () => void (ran = true));
    cancel();
    await clock.advance(20);
    expect(ran).toBe(false);
    expect(clock.pending).toBe(0);
  });
});
