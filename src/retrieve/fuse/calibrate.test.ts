import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibrateCosine, denseScale, STATIC_MODEL, TUNED_MODEL } from "./calibrate.ts";

describe("calibrateCosine", () => {
  it("is one half at the point worth showing, and nothing at and below zero", () => {
    const calibrate = calibrateCosine(0.24);
    expect(calibrate(0.24)).toBe(0.5);
    expect(calibrate(0)).toBe(0);
    expect(calibrate(-0.3)).toBe(0);
  });

  it("tells good matches apart", () => {
    const calibrate = calibrateCosine(0.24);
    expect(calibrate(0.7) - calibrate(0.5)).toBeGreaterThan(0.05);
  });

  it("rises and stays in [0, 1]", () => {
    const cosine = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(cosine, cosine, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map(calibrateCosine(0.3));
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(high ?? 0);
      }),
    );
  });

  it.each([TUNED_MODEL, STATIC_MODEL])(
    "puts the bottom of a shipped model's scale next to zero",
    ({ worthShowing }) => {
      expect(Math.abs(denseScale(calibrateCosine(worthShowing)).floor)).toBeLessThan(0.01);
    },
  );
});
