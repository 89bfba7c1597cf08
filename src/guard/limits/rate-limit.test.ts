import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createRateLimiter, type RateLimit } from "./rate-limit.ts";

function aMinute(key: string, calls: number): readonly RateLimit[] {
  return [{ key, calls, windowMs: 60_000 }];
}

describe("createRateLimiter", () => {
  it("admits exactly the limit in the first minute, however the calls come [000-6.2-rate-parallel]", async () => {
    const clock = createManualClock(1_700_000_000_000);
    const limiter = createRateLimiter({ clock });
    let admitted = 0;
    for (let second = 0; second < 60; second++) {
      const callers = Array.from({ length: 16 }, async () => limiter.take(aMinute("a", 60)));
      admitted += (await Promise.all(callers)).filter((answer) => answer.admitted).length;
      await clock.advance(1_000);
    }
    expect(admitted).toBe(60);
  });

  it("says when the next call can succeed, to the millisecond [000-6.2-rate-retry-after]", async () => {
    const clock = createManualClock(5_000);
    const limiter = createRateLimiter({ clock });
    limiter.take(aMinute("a", 2));
    await clock.advance(10_000);
    limiter.take(aMinute("a", 2));
    await clock.advance(500);
    expect(limiter.take(aMinute("a", 2))).toMatchObject({ admitted: false, retryAfterMs: 49_500 });
    await clock.advance(49_499);
    expect(limiter.take(aMinute("a", 2))).toMatchObject({ admitted: false, retryAfterMs: 1 });
    await clock.advance(1);
    expect(limiter.take(aMinute("a", 2))).toEqual({ admitted: true });
    expect(limiter.take(aMinute("a", 2))).toMatchObject({ admitted: false, retryAfterMs: 10_000 });
  });

  it("gives whole milliseconds, after which the call does succeed", async () => {
    const clock = createManualClock(0.25);
    const limiter = createRateLimiter({ clock });
    limiter.take(aMinute("a", 1));
    await clock.advance(0.5);
    expect(limiter.take(aMinute("a", 1))).toMatchObject({ admitted: false, retryAfterMs: 60_000 });
    await clock.advance(60_000);
    expect(limiter.take(aMinute("a", 1))).toEqual({ admitted: true });
  });

  it("counts each key apart", () => {
    const limiter = createRateLimiter({ clock: createManualClock() });
    expect(limiter.take(aMinute("a", 1)).admitted).toBe(true);
    expect(limiter.take(aMinute("b", 1)).admitted).toBe(true);
    expect(limiter.take(aMinute("a", 1)).admitted).toBe(false);
  });

  it("admits one call a minute where the limit is a fraction", () => {
    const limiter = createRateLimiter({ clock: createManualClock() });
    expect(limiter.take(aMinute("a", 0.5)).admitted).toBe(true);
    expect(limiter.take(aMinute("a", 0.5)).admitted).toBe(false);
  });

  it("admits everything where the limit is infinite", () => {
    const limiter = createRateLimiter({ clock: createManualClock() });
    for (let call = 0; call < 1_000; call++) expect(limiter.take(aMinute("a", Infinity)).admitted).toBe(true);
    expect(limiter.size).toBe(0);
  });

  it("holds a tool to a limit that was lowered, at once", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let call = 0; call < 10; call++) {
      limiter.take(aMinute("a", 10));
      await clock.advance(1_000);
    }
    // Calls at 0…9 s; with a limit of 3, those up to 7 s must have left the minute.
    expect(limiter.take(aMinute("a", 3))).toMatchObject({ admitted: false, retryAfterMs: 57_000 });
    await clock.advance(57_000);
    expect(limiter.take(aMinute("a", 3))).toEqual({ admitted: true });
    expect(limiter.take(aMinute("a", 3)).admitted).toBe(false);
  });

  it("forgets tools that are idle", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let tool = 0; tool < 100; tool++) limiter.take(aMinute(`tool-${tool}`, 60));
    expect(limiter.size).toBe(100);
    await clock.advance(60_000);
    for (let call = 0; call < 60; call++) limiter.take(aMinute("busy", 60));
    expect(limiter.size).toBe(1);
  });

  it("forgets idle tools behind one that is always busy", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    limiter.take(aMinute("busy", 1_000));
    for (let tool = 0; tool < 20; tool++) limiter.take(aMinute(`tool-${tool}`, 60));
    for (let second = 0; second < 120; second++) {
      await clock.advance(1_000);
      limiter.take(aMinute("busy", 1_000));
    }
    expect(limiter.size).toBe(1);
  });

  it("remembers no more calls than the limit, for however long a tool is used", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let second = 0; second < 600; second++) {
      for (let call = 0; call < 3; call++) limiter.take(aMinute("busy", 20));
      await clock.advance(1_000);
    }
    expect(limiter.remembered).toBe(20);
  });

  it("forgets two calls at most with each, so that none pays for all that lie behind", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let call = 0; call < 9; call++) limiter.take(aMinute("a", 20));
    await clock.advance(30_000);
    limiter.take(aMinute("a", 20));
    limiter.take(aMinute("b", 20));
    expect(limiter.remembered).toBe(11);
    await clock.advance(30_000);
    limiter.take(aMinute("a", 20));
    expect(limiter.remembered).toBe(10);
  });

  it("forgets two idle tools at most with each call", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let tool = 0; tool < 100; tool++) limiter.take(aMinute(`tool-${tool}`, 60));
    await clock.advance(60_000);
    limiter.take(aMinute("busy", 60));
    expect(limiter.size).toBe(99);
  });

  it("holds a tool to its limit that was idle behind others", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (const tool of ["x", "y", "z", "a"]) limiter.take(aMinute(tool, 1));
    await clock.advance(200_000);
    expect(limiter.take(aMinute("a", 1))).toEqual({ admitted: true });
    expect(limiter.take(aMinute("a", 1))).toMatchObject({ admitted: false, retryAfterMs: 60_000 });
  });

  it("keeps the order of calls when a burst follows steady use", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    for (let call = 0; call < 13; call++) {
      limiter.take(aMinute("a", 12));
      if (call < 12) await clock.advance(10_000);
    }
    // At 120 s the last minute holds the calls of 70, 80, … 120 s, so six more fit.
    const burst = Array.from({ length: 8 }, () => limiter.take(aMinute("a", 12)).admitted);
    expect(burst).toEqual([true, true, true, true, true, true, false, false]);
    for (const seconds of [10, 10, 10, 10, 10]) {
      expect(limiter.take(aMinute("a", 12))).toMatchObject({ admitted: false, retryAfterMs: 10_000 });
      await clock.advance(seconds * 1_000);
      expect(limiter.take(aMinute("a", 12))).toEqual({ admitted: true });
    }
  });

  it("keeps what a tool has used when idle ones are forgotten", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    limiter.take(aMinute("old", 1));
    await clock.advance(30_000);
    limiter.take(aMinute("recent", 1));
    await clock.advance(30_000);
    limiter.take(aMinute("other", 1));
    expect(limiter.take(aMinute("recent", 1))).toMatchObject({ admitted: false, retryAfterMs: 30_000 });
    expect(limiter.take(aMinute("old", 1))).toEqual({ admitted: true });
  });

  it("keeps every window to every limit, refuses nothing that has room, and uses up nothing where it refuses", async () => {
    const limit = fc.record({
      key: fc.constantFrom("a", "b"),
      calls: fc.integer({ max: 12, min: 1 }),
      windowMs: fc.constantFrom(1_000, 60_000, 3_600_000),
    });
    // Within one arsenal a key has one number of calls in a window.
    const limits = fc.uniqueArray(limit, {
      maxLength: 4,
      minLength: 1,
      selector: ({ key, windowMs }) => key + windowMs,
    });
    const gap = fc.oneof(...[0, 300, 2_000, 9_000, 70_000, 4_000_000].map((max) => fc.integer({ max, min: 0 })));
    const call = fc.record({ gap, chosen: fc.integer({ max: 15, min: 1 }) });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(call, { maxLength: 120 }), async (known, calls) => {
        let now = 0;
        const limiter = createRateLimiter({ clock: { now: () => now, after: () => () => undefined } });
        const admitted = new Map(known.map((each): [RateLimit, number[]] => [each, []]));
        const waitFor = (each: RateLimit): number => {
          const last = (admitted.get(each) ?? []).filter((at) => at > now - each.windowMs);
          return last.length < each.calls ? 0 : (last[last.length - each.calls] ?? 0) + each.windowMs - now;
        };
        for (const { gap: wait, chosen } of calls) {
          now += wait;
          const asked = known.filter((_, index) => (chosen >> index) % 2 === 1);
          const longest = Math.max(0, ...asked.map(waitFor));
          const answer = limiter.take(asked);
          expect(answer.admitted).toBe(longest === 0);
          if (answer.admitted) for (const each of asked) admitted.get(each)?.push(now);
          else {
            expect(answer.retryAfterMs).toBe(longest);
            expect(waitFor(answer.limit)).toBe(longest);
          }
        }
        for (const [{ calls: most, windowMs }, times] of admitted) {
          for (const start of times) {
            expect(times.filter((at) => at >= start && at < start + windowMs).length).toBeLessThanOrEqual(most);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("forgets what is idle in one window behind what a longer one remembers", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ clock });
    limiter.take([{ key: "daily", calls: 5, windowMs: 86_400_000 }]);
    for (let tool = 0; tool < 10; tool++) limiter.take(aMinute(`tool-${tool}`, 60));
    await clock.advance(60_000);
    for (let call = 0; call < 10; call++) limiter.take(aMinute("busy", 60));
    expect(limiter.size).toBe(2);
  });

  it("names the limit that a call must wait for the longest", async () => {
    const limiter = createRateLimiter({ clock: createManualClock() });
    const hourly = { key: "caller", calls: 2, windowMs: 3_600_000 };
    const both = [...aMinute("tool", 1), hourly];
    expect(limiter.take(both)).toEqual({ admitted: true });
    expect(limiter.take(both)).toMatchObject({ admitted: false, retryAfterMs: 60_000, limit: { key: "tool" } });
    expect(limiter.take([hourly])).toEqual({ admitted: true });
    expect(limiter.take(both)).toEqual({ admitted: false, retryAfterMs: 3_600_000, limit: hourly });
  });
});
