import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { createRateLimiter } from "./rate-limit.ts";

describe("createRateLimiter", () => {
  it("admits exactly the limit in the first minute, however the calls come [000-6.2-rate-parallel]", async () => {
    const clock = createManualClock(1_700_000_000_000);
    const limiter = createRateLimiter({ clock });
    let admitted = 0;
    for (let second = 0; second < 60; second++) {
      const callers = Array.from({ length: 16 }, async () => limiter.take("a", 60));
      admitted += (await Promise.all(callers)).filter((answer) => answer.admitted).length;
      await clock.advance(1_000);
    }
    expect(admitted).toBe(60);
  });

  it("says when the next call can succeed, to the millisecond [000-6.2-rate-retry-after]", async () => {
    const clock = createManualClock(5_000);
    const limiter = createRateLimiter({ clock });
    limiter.take("a", 2);
    await clock.advance(10_000);
    limiter.take("a", 2);
    await clock.advance(500);
    expect(limiter.take("a", 2)).toEqual({ admitted: false, retryAfterMs: 49_500 });
    await clock.advance(49_499);
    expect(limiter.take("a", 2)).toEqual({ admitted: false, retryAfterMs: 1 });
    await clock.advance(1);
    expect(limiter.take("a", 2)).toEqual({ admitted: true });
    expect(limiter.take("a", 2)).toEqual({ admitted: false, retryAfterMs: 10_000 });
  });

  it("gives whole milliseconds, after which the call does succeed", async () => {
    const clock = createManualClock(0.25);
    const limiter = createRateLimiter({ clock });
    limiter.take("a", 1);
    await clock.advance(0.5);
    expect(limiter.take("a", 1)).toEqual({ admitted: false, retryAfterMs: 60_000 });
    await clock.advance(60_000);
    expect(limiter.take("a", 1)).toEqual({ admitted: true });
  });

  it("counts each key apart", () => {
    const limiter = createRateLimiter({ clock: createManualClock() });
    expect(limiter.take("a", 1).admitted).toBe(true);
    expect(limiter.take("b", 1).admitted).toBe(true);
    expect(limiter.take("a", 1).admitted).toBe(false);
  });

  it("admits one call a minute where the limit is a fraction", () => {
    const limiter = createRateLimiter({ clock: createManualClock() });
    expect(limiter.take("a", 0.5).admitted).toBe(true);
    expect(limiter.take("a", 0.5).admitted).toBe(false);
  });

  it("admits everything where the limit is infinite", () => {
    const limiter = createRateLimiter({ clock: createManualClock() });
    for (let call = 0; call < 1_000; call++) expect(limiter.take("a", Infinity).admitted).toBe(true);
    expect(limiter.size).toBe(0);
  });

  it("holds a tool to a limit that was lowered, at once", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let call = 0; call < 10; call++) {
      limiter.take("a", 10);
      await clock.advance(1_000);
    }
    // Calls at 0…9 s; with a limit of 3, those up to 7 s must have left the minute.
    expect(limiter.take("a", 3)).toEqual({ admitted: false, retryAfterMs: 57_000 });
    await clock.advance(57_000);
    expect(limiter.take("a", 3)).toEqual({ admitted: true });
    expect(limiter.take("a", 3).admitted).toBe(false);
  });

  it("forgets tools that are idle", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let tool = 0; tool < 100; tool++) limiter.take(`tool-${tool}`, 60);
    expect(limiter.size).toBe(100);
    await clock.advance(60_000);
    for (let call = 0; call < 60; call++) limiter.take("busy", 60);
    expect(limiter.size).toBe(1);
  });

  it("forgets idle tools behind one that is always busy", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    limiter.take("busy", 1_000);
    for (let tool = 0; tool < 20; tool++) limiter.take(`tool-${tool}`, 60);
    for (let second = 0; second < 120; second++) {
      await clock.advance(1_000);
      limiter.take("busy", 1_000);
    }
    expect(limiter.size).toBe(1);
  });

  it("remembers no more calls than the limit, for however long a tool is used", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let second = 0; second < 600; second++) {
      for (let call = 0; call < 3; call++) limiter.take("busy", 20);
      await clock.advance(1_000);
    }
    expect(limiter.remembered).toBeLessThanOrEqual(20);
  });

  it("keeps the order of calls when a burst follows steady use", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let call = 0; call < 13; call++) {
      limiter.take("a", 12);
      if (call < 12) await clock.advance(10_000);
    }
    // At 120 s the last minute holds the calls of 70, 80, … 120 s, so six more fit.
    const burst = Array.from({ length: 8 }, () => limiter.take("a", 12).admitted);
    expect(burst).toEqual([true, true, true, true, true, true, false, false]);
    for (const seconds of [10, 10, 10, 10, 10]) {
      expect(limiter.take("a", 12)).toEqual({ admitted: false, retryAfterMs: 10_000 });
      await clock.advance(seconds * 1_000);
      expect(limiter.take("a", 12)).toEqual({ admitted: true });
    }
  });

  it("keeps what a tool has used when idle ones are forgotten", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    limiter.take("old", 1);
    await clock.advance(30_000);
    limiter.take("recent", 1);
    await clock.advance(30_000);
    limiter.take("other", 1);
    expect(limiter.take("recent", 1)).toEqual({ admitted: false, retryAfterMs: 30_000 });
    expect(limiter.take("old", 1)).toEqual({ admitted: true });
  });

  it("keeps every sliding minute to the limit and refuses nothing that has room", async () => {
    const gap = fc.oneof(
      fc.constant(0),
      fc.integer({ max: 2_000, min: 0 }),
      fc.integer({ max: 9_000, min: 0 }),
      fc.integer({ max: 70_000, min: 0 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ max: 25, min: 1 }), fc.array(gap, { maxLength: 150 }), async (limit, gaps) => {
        let now = 0;
        const limiter = createRateLimiter({ clock: { now: () => now, after: () => () => undefined } });
        const admitted: number[] = [];
        for (const wait of gaps) {
          now += wait;
          const lastMinute = admitted.filter((at) => at > now - 60_000);
          const answer = limiter.take("a", limit);
          expect(answer.admitted).toBe(lastMinute.length < limit);
          if (answer.admitted) admitted.push(now);
          else expect(answer.retryAfterMs).toBe((lastMinute[0] ?? 0) + 60_000 - now);
        }
        for (const start of admitted) {
          expect(admitted.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 300 },
    );
  });
});
