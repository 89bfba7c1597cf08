import { describe, expect, it } from "vitest";
import type { AnsweredQuery } from "./answer.ts";
import { candidatesFor, tune } from "./tune.ts";
import { createRandom } from "./random.ts";

/** Answers whose NDCG@10, and every other figure, is given. */
function answersOf(scores: readonly number[]): readonly AnsweredQuery[] {
  return scores.map((score, index) => {
    const figures = { "recall@1": score, "recall@5": score, "recall@10": score, "ndcg@10": score, mrr: score };
    const query = { id: String(index), query: "q", relevant: ["a"], alsoOk: [], history: [], style: undefined };
    return { ...query, figures, ranking: [], refused: false, durationMs: 0 };
  });
}

const candidates = candidatesFor({});
const QUERIES = 100;

describe("tune", () => {
  it("finds settings that are better for most queries, and says so", async () => {
    const random = createRandom(1);
    const today = Array.from({ length: QUERIES }, () => (random() < 0.5 ? 1 : 0));
    const better = today.map((score) => (random() < 0.3 ? 1 : score));
    const tuning = await tune(candidates, [today, better, today].map(answersOf));
    expect(tuning).toMatchObject({ best: candidates[1], isCurrent: false, helps: true, queries: QUERIES });
    expect(tuning.figures["ndcg@10"]?.b).toBeGreaterThan(tuning.figures["ndcg@10"]?.a ?? 1);
  });

  it("does not take the luckiest of many random settings for better ones", async () => {
    const helped: boolean[] = [];
    for (let seed = 0; seed < 20; seed++) {
      const random = createRandom(seed);
      const draw = () => Array.from({ length: QUERIES }, () => (random() < 0.5 ? 1 : 0));
      const tuning = await tune(candidates, candidates.map(draw).map(answersOf));
      helped.push(tuning.helps);
    }
    // The luckiest of 18 alone looks better than today's in nearly every draw.
    expect(helped.filter(Boolean).length).toBeLessThanOrEqual(3);
  });

  it("keeps today's settings if none is better", async () => {
    const today = Array.from({ length: QUERIES }, (_, index) => index % 2);
    const worse = today.map(() => 0);
    expect(await tune(candidates, [today, worse, today].map(answersOf))).toMatchObject({
      best: candidates[0],
      isCurrent: true,
      helps: false,
    });
  });

  it("compares today's settings with others, each once", () => {
    const own = candidatesFor({ weights: { semantic: 0.5, intent: 0.2 }, enableMmr: false });
    expect(own[0]).toEqual({ weights: { intent: 0.2 }, enableMmr: false, mmrLambda: 0.7 });
    expect(new Set(own.map((one) => JSON.stringify(one))).size).toBe(own.length);
    expect(candidates).toHaveLength(18);
    expect(own).toHaveLength(19);
  });
});
