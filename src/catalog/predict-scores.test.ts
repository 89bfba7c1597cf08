import { describe, expect, it } from "vitest";
import { predictScores } from "./predict-scores.ts";

describe("predictScores", () => {
  it("puts the tools the better ranker does not know on the line through those that both know", () => {
    const better = new Map([
      ["a", 0.1],
      ["b", 0.3],
      ["c", 0.5],
    ]);
    const lesser = new Map([
      ["a", 0.4],
      ["b", 0.5],
      ["c", 0.6],
      ["new", 0.55],
    ]);
    const scores = predictScores(better, lesser);
    expect([scores.get("a"), scores.get("b"), scores.get("c")]).toEqual([0.1, 0.3, 0.5]);
    expect(scores.get("new")).toBeCloseTo(0.4, 9);
  });

  it("never turns the lesser ranker's order round", () => {
    const better = new Map([
      ["a", 0.5],
      ["b", 0.1],
    ]);
    const lesser = new Map([
      ["a", 0.1],
      ["b", 0.5],
      ["low", 0.2],
      ["high", 0.9],
    ]);
    const scores = predictScores(better, lesser);
    expect(scores.get("high")).toBeCloseTo(0.3, 9);
    expect(scores.get("low")).toBeCloseTo(0.3, 9);
  });

  it("shifts where all known tools are equally near, and stays within a cosine's bounds", () => {
    const better = new Map([["a", 0.9]]);
    const lesser = new Map([
      ["a", 0.5],
      ["new", 0.4],
      ["near", 0.7],
    ]);
    const scores = predictScores(better, lesser);
    expect(scores.get("new")).toBeCloseTo(0.8, 9);
    expect(scores.get("near")).toBe(1);
  });

  it("takes the lesser scores as they are where no tool has both", () => {
    expect(predictScores(new Map([["a", 0.9]]), new Map([["b", 0.2]])).get("b")).toBe(0.2);
  });
});
