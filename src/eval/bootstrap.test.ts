import { array, assert, asyncProperty, double, nat } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Interval, pairedBootstrap } from "./bootstrap.ts";
import { repeats } from "../../test/kit/effort.ts";

async function intervalOf(differences: readonly number[], seed = 1): Promise<Interval | undefined> {
  return (await pairedBootstrap([Float64Array.from(differences)], { seed }))[0];
}

describe("pairedBootstrap", () => {
  it("gives what the binomial says by hand", async () => {
    // Two queries, one of them better by 1: the resampled mean is 0, ½ or 1, with ¼, ½ and ¼.
    expect(await intervalOf([0, 1])).toEqual({ mean: 0.5, low: 0, high: 1 });
    // One of eight: P(X ≤ 2) = 0.933 and P(X ≤ 3) = 0.989 for X ~ B(8, 1/8), so that 97.5 % lies at three eighths.
    expect(await intervalOf([0, 0, 0, 1, 0, 0, 0, 0])).toEqual({ mean: 0.125, low: 0, high: 0.375 });
    // Nine of ten: P(X ≤ 6) = 0.013 and P(X ≤ 7) = 0.070 for X ~ B(10, 0.9).
    expect(await intervalOf([1, 1, 1, 1, 1, 1, 1, 1, 1, 0])).toEqual({ mean: 0.9, low: 0.7, high: 1 });
  });

  it("is close to the normal interval for many queries", async () => {
    const differences = Array.from({ length: 400 }, (_, index) => (index % 4 === 0 ? 1 : 0));
    const interval = await intervalOf(differences);
    const half = 1.96 * Math.sqrt((0.25 * 0.75) / 400);
    expect(interval?.low).toBeCloseTo(0.25 - half, 2);
    expect(interval?.high).toBeCloseTo(0.25 + half, 2);
  });

  it("is [0, 0] for two systems that answer alike", async () => {
    expect(await intervalOf([0, 0, 0, 0])).toEqual({ mean: 0, low: 0, high: 0 });
    expect(await pairedBootstrap([new Float64Array(0)])).toEqual([{ mean: 0, low: 0, high: 0 }]);
  });

  it("holds the mean difference, whatever the differences are, and is the same for the same seed", async () => {
    const difference = double({ min: -1, max: 1, noNaN: true });
    await assert(
      asyncProperty(array(difference, { minLength: 1, maxLength: 30 }), nat(), async (differences, seed) => {
        const interval = await intervalOf(differences, seed);
        expect(interval?.low).toBeLessThanOrEqual((interval?.mean ?? NaN) + 1e-12);
        expect(interval?.high).toBeGreaterThanOrEqual((interval?.mean ?? NaN) - 1e-12);
        expect(await intervalOf(differences, seed)).toEqual(interval);
      }),
      { numRuns: repeats(25) },
    );
  });

  it("draws the same queries for every list: what is twice as much has twice the interval", async () => {
    const one = Float64Array.from([0, 1, -0.5, 0, 0.25, 0, 1]);
    const [first, twice] = await pairedBootstrap([one, one.map((value) => 2 * value)]);
    expect(twice).toEqual({ mean: 2 * (first?.mean ?? 0), low: 2 * (first?.low ?? 0), high: 2 * (first?.high ?? 0) });
  });

  it("ends when it is cancelled", async () => {
    const controller = new AbortController();
    const running = pairedBootstrap([new Float64Array(100_000).fill(1)], { signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(running).rejects.toThrow("aborted");
  });
});
