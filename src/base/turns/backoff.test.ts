import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

describe("backoffMs", () => {
  it("doubles the wait for each failure, up to the longest", () => {
    const waits = [0, 1, 2, 3].map((failures) => backoffMs(failures, { firstMs: 100, longestMs: 500 }));
    expect(waits).toEqual([100, 200, 400, 500]);
  });

  it("grows by another factor if one is given", () => {
    expect([0, 1, 2].map((failures) => backoffMs(failures, { firstMs: 10, factor: 4 }))).toEqual([10, 40, 160]);
  });

  it("stays finite at the bound after any number of failures", () => {
    expect(backoffMs(100_000, { firstMs: 1, longestMs: 60_000 })).toBe(60_000);
  });

  it("spreads the wait over its upper half", () => {
    expect(backoffMs(1, { firstMs: 100, random: () => 0 })).toBe(100);
    expect(backoffMs(1, { firstMs: 100, random: () => 0.5 })).toBe(150);
  });
});
