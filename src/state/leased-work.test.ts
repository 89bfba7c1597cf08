import { describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import type { Leases } from "./changes.port.ts";
import { startLeasedWork } from "./leased-work.ts";

const EVERY = { name: "prune", everyMs: 1_000 };

describe("leased work", () => {
  it("is done by one of several processes, and by another once that one ends", async () => {
    const clock = createManualClock();
    const { leases } = memoryState({ clock });
    const done: string[] = [];
    const [end, endOther] = ["one", "other"].map((who) =>
      startLeasedWork(leases, clock, { ...EVERY, run: async () => done.push(who) }),
    );
    await clock.advance(3_000);
    expect(done).toEqual(["one", "one", "one"]);
    await end?.();
    await clock.advance(2_000);
    expect(done.slice(3)).toEqual(["other", "other"]);
    await endOther?.();
    await clock.advance(5_000);
    expect(done).toHaveLength(5);
    expect(clock.pending).toBe(0);
  });

  it("goes on after it failed, and after the store was away", async () => {
    const clock = createManualClock();
    const { leases } = memoryState({ clock });
    let isAway = true;
    const store: Leases = {
      acquire: (...given) => (isAway ? Promise.reject(new Error("away")) : leases.acquire(...given)),
    };
    let runs = 0;
    const end = startLeasedWork(store, clock, { ...EVERY, run: () => Promise.reject(new Error(`run ${++runs}`)) });
    await clock.advance(2_000);
    expect(runs).toBe(0);
    isAway = false;
    await clock.advance(2_000);
    expect(runs).toBe(2);
    await end();
  });

  it("is done under a new lease once the old one is lost", async () => {
    const clock = createManualClock();
    const lost = new AbortController();
    const signals = [lost.signal, new AbortController().signal];
    const acquired: AbortSignal[] = [];
    const leases: Leases = {
      acquire: async (name) => {
        const signal = signals[acquired.length] ?? AbortSignal.abort();
        acquired.push(signal);
        return { name, lost: signal, release: async () => {} };
      },
    };
    const held: AbortSignal[] = [];
    const end = startLeasedWork(leases, clock, { ...EVERY, run: async (signal) => held.push(signal) });
    await clock.advance(2_000);
    lost.abort();
    await clock.advance(1_000);
    expect(held).toEqual([signals[0], signals[0], signals[1]]);
    expect(acquired).toHaveLength(2);
    await end();
  });
});
