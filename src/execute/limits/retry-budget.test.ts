import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createRetryBudget, RETRIES_ALWAYS_ALLOWED } from "./retry-budget.ts";

describe("createRetryBudget", () => {
  it("allows a few retries a minute, however few the calls", async () => {
    const clock = createManualClock(5_000);
    const budget = createRetryBudget({ share: 0.2, clock });
    budget.countCall("a");
    const taken = Array.from({ length: 5 }, () => budget.takeRetry("a"));
    expect(taken).toEqual([true, true, true, false, false]);
    await clock.advance(61_000);
    expect(budget.takeRetry("a")).toBe(true);
  });

  it("allows a share of many calls, for each key apart", () => {
    const budget = createRetryBudget({ share: 0.2, clock: createManualClock() });
    for (let call = 0; call < 100; call++) budget.countCall("a");
    const taken = Array.from({ length: 30 }, () => budget.takeRetry("a")).filter(Boolean);
    expect(taken).toHaveLength(20);
    expect(budget.takeRetry("b")).toBe(true);
  });

  it("allows none where the share is nothing", () => {
    const budget = createRetryBudget({ share: 0, clock: createManualClock() });
    budget.countCall("a");
    expect(budget.takeRetry("a")).toBe(false);
  });

  it("never allows a retry beyond the share of the last minute's calls, and refuses none within it by more than a second's worth", () => {
    const step = fc.record({
      wait: fc.oneof(fc.constant(0), ...[50, 900, 5_000, 40_000].map((max) => fc.integer({ max, min: 0 }))),
      calls: fc.integer({ max: 12, min: 0 }),
      retries: fc.integer({ max: 6, min: 0 }),
    });
    fc.assert(
      fc.property(fc.constantFrom(0.1, 0.2, 1), fc.array(step, { maxLength: 60 }), (share, steps) => {
        let now = 0;
        const budget = createRetryBudget({ share, clock: { now: () => now, after: () => () => undefined } });
        const calls: number[] = [];
        const retries: number[] = [];
        const since = (times: readonly number[], ms: number): number => times.filter((at) => at > now - ms).length;
        const allowed = (counted: number): number => Math.max(RETRIES_ALWAYS_ALLOWED, Math.floor(share * counted));
        for (const { wait, calls: more, retries: wanted } of steps) {
          now += wait;
          for (let call = 0; call < more; call++) {
            budget.countCall("a");
            calls.push(now);
          }
          for (let retry = 0; retry < wanted; retry++) {
            if (budget.takeRetry("a")) {
              retries.push(now);
              expect(since(retries, 60_000)).toBeLessThanOrEqual(allowed(since(calls, 60_000)));
            } else expect(since(retries, 61_000)).toBeGreaterThanOrEqual(allowed(since(calls, 59_000)));
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
