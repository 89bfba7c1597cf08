import { describe, expect, it } from "vitest";
import { figuresOf, meanFigures, percentile } from "./metrics.ts";

describe("figuresOf", () => {
  it("is all ones for a ranking that starts with what is relevant", () => {
    expect(figuresOf(["a", "b", "c"], new Set(["a", "b"]))).toEqual({
      "recall@1": 0.5,
      "recall@5": 1,
      "recall@10": 1,
      "ndcg@10": 1,
      mrr: 1,
    });
  });

  it("discounts by rank", () => {
    const figures = figuresOf(["x", "a", "y", "z", "v", "w", "b"], new Set(["a", "b"]));
    expect([figures["recall@1"], figures["recall@5"], figures["recall@10"], figures.mrr]).toEqual([0, 0.5, 1, 0.5]);
    const gain = 1 / Math.log2(3) + 1 / Math.log2(8);
    const ideal = 1 + 1 / Math.log2(3);
    expect(figures["ndcg@10"]).toBeCloseTo(gain / ideal, 10);
  });

  it("is zero where nothing relevant came, and counts recall over all that is relevant", () => {
    expect(figuresOf(["x"], new Set(["a"]))).toEqual({
      "recall@1": 0,
      "recall@5": 0,
      "recall@10": 0,
      "ndcg@10": 0,
      mrr: 0,
    });
    const twenty = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const { "recall@10": recall, "ndcg@10": ndcg } = figuresOf(twenty, new Set(twenty));
    expect([recall, ndcg]).toEqual([0.5, 1]);
  });

  it("counts a relevant tool at rank 12 for the reciprocal rank alone", () => {
    const ranking = [...Array.from({ length: 11 }, (_, index) => `x${index}`), "a"];
    expect(figuresOf(ranking, new Set(["a"]))).toMatchObject({ "recall@10": 0, "ndcg@10": 0, mrr: 1 / 12 });
  });
});

it("meanFigures are fractions to four digits, 0 where there is nothing", () => {
  const one = { "recall@1": 1, "recall@5": 1, "recall@10": 1, "ndcg@10": 1, mrr: 1 };
  const none = { "recall@1": 0, "recall@5": 0, "recall@10": 0, "ndcg@10": 0, mrr: 0 };
  expect(meanFigures([one, none, none])).toEqual({
    "recall@1": 0.3333,
    "recall@5": 0.3333,
    "recall@10": 0.3333,
    "ndcg@10": 0.3333,
    mrr: 0.3333,
  });
  expect(meanFigures([]).mrr).toBe(0);
});

it.each([
  [[], 0.5, 0],
  [[7], 0.95, 7],
  [[4, 1, 3, 2], 0.5, 2],
  [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95],
  [Array.from({ length: 20 }, (_, index) => index + 1), 0.95, 19],
])("percentile of %j at %f is %f", (numbers, share, expected) => {
  expect(percentile(numbers, share)).toBe(expected);
});
