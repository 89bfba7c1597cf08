import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RoutingSignals } from "../result.ts";
import { finalScore } from "./scorer.ts";
import { DEFAULT_SETTINGS } from "../settings.ts";

const { weights } = DEFAULT_SETTINGS;
const nothing: RoutingSignals = {
  semantic: 0,
  intent: 0,
  conversation: 0,
  health: 0,
  cost: 0,
  alreadyUsedPenalty: 0,
  alreadyFailedPenalty: 0,
  deprecatedPenalty: 0,
};

describe("the routing formula", () => {
  it("weighs each signal [000-6.1-formula]", () => {
    expect(finalScore({ ...nothing, semantic: 1 }, weights)).toBe(0.6);
    expect(finalScore({ ...nothing, intent: 1 }, weights)).toBe(0.15);
    expect(finalScore({ ...nothing, conversation: 1 }, weights)).toBe(0.1);
    expect(finalScore({ ...nothing, health: 1 }, weights)).toBe(0.1);
    expect(finalScore({ ...nothing, cost: 1 }, weights)).toBe(0.05);
  });

  it("adds what was learned where it has a weight, and is the five signals' sum otherwise", () => {
    const signals = { ...nothing, semantic: 1, learned: 0.5 };
    expect(finalScore(signals, { ...weights, learned: 0.08 })).toBeCloseTo(0.64, 12);
    expect(finalScore(signals, weights)).toBe(0.6);
    expect(finalScore({ ...nothing, semantic: 1 }, { ...weights, learned: 0.08 })).toBe(0.6);
  });

  it("takes each penalty off [000-6.1-formula]", () => {
    const signals = { ...nothing, semantic: 1 };
    expect(finalScore({ ...signals, alreadyUsedPenalty: 0.05 }, weights)).toBeCloseTo(0.55, 12);
    expect(finalScore({ ...signals, alreadyFailedPenalty: 0.3 }, weights)).toBeCloseTo(0.3, 12);
    expect(finalScore({ ...signals, deprecatedPenalty: 0.2 }, weights)).toBeCloseTo(0.4, 12);
  });

  it("stops at 0 [000-6.1-floor]", () => {
    expect(finalScore({ ...nothing, semantic: 0.1, alreadyFailedPenalty: 0.3 }, weights)).toBe(0);
  });

  it("stays in [0, 1] with weights that sum to 1", () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    const signals = fc.record({
      semantic: unit,
      intent: unit,
      conversation: unit,
      health: unit,
      cost: unit,
      alreadyUsedPenalty: unit,
      alreadyFailedPenalty: unit,
      deprecatedPenalty: unit,
    });
    fc.assert(
      fc.property(signals, (given) => {
        const score = finalScore(given, weights);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1 + 1e-12);
      }),
    );
  });
});
