import { describe, expect, it } from "vitest";
import { predictScores } from "./predict-scores.ts";

describe("predictScores", () => {
  it("puts the tools the better ranker does not know on the line through those that both know", () => {
    const scores = predictScores([0.1, 0.3, 0.5, undefined], [0.4, 0.5, 0.6, 0.55]);
    expect(scores.slice(0, 3)).toEqual([0.1, 0.3, 0.5]);
    expect(scores[3]).toBeCloseTo(0.4, 9);
  });

  it("never turns the lesser ranker's order round", () => {
    const [, , low, high] = predictScores([0.5, 0.1, undefined, undefined], [0.1, 0.5, 0.2, 0.9]);
    expect(high).toBeCloseTo(0.3, 9);
    expect(low).toBeCloseTo(0.3, 9);
  });

  it("shifts where all known tools are equally near, and stays within a cosine's bounds", () => {
    const [, fresh, near] = predictScores([0.9, undefined, undefined], [0.5, 0.4, 0.7]);
    expect(fresh).toBeCloseTo(0.8, 9);
    expect(near).toBe(1);
  });

  it("takes the lesser scores as they are where no tool has both, and leaves out what neither knows", () => {
    expect(predictScores([0.9, undefined, undefined], [undefined, 0.2, undefined])).toEqual([0.9, 0.2, undefined]);
  });
});
