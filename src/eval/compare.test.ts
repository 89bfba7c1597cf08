import { describe, expect, it } from "vitest";
import type { AnsweredQuery } from "./answer.ts";
import { compareAnswers } from "./compare.ts";
import { figuresOf } from "./metrics.ts";

/** An answer to a query that tool `a` serves, or that nothing does. */
function answer(id: string, ranking: string, { refused = false, relevant = ["a"] } = {}): AnsweredQuery {
  const tools = [...ranking].map((tool, index) => ({ id: tool, score: 1 - index / 10, semanticScore: 0.9 }));
  const figures = relevant.length > 0 ? figuresOf([...ranking], new Set(relevant)) : undefined;
  return {
    id,
    query: `query ${id}`,
    relevant,
    alsoOk: [],
    history: [],
    style: undefined,
    ranking: tools,
    figures,
    refused,
    durationMs: 1,
  };
}

describe("compareAnswers", () => {
  const a = [answer("1", "xa"), answer("2", "ax"), answer("3", "xyz"), answer("4", "ax", { refused: true })];
  const b = [answer("1", "ax"), answer("2", "xa"), answer("3", "xya"), answer("4", "ax")];

  it("gives both figures, B less A, and who wins", async () => {
    const { figures } = await compareAnswers(a, b);
    expect(figures["recall@1"]).toMatchObject({ a: 0.5, b: 0.5, difference: 0, wins: 1, losses: 1, ties: 2 });
    expect(figures["recall@5"]).toMatchObject({ a: 0.75, b: 1, difference: 0.25, low: 0, wins: 1, losses: 0, ties: 3 });
    expect(figures["mrr"]).toMatchObject({ a: 0.625, b: 0.7083, difference: 0.0833 });
  });

  it("counts fewer false refusals as a win, and leaves out refusals where every query can be served", async () => {
    const { figures } = await compareAnswers(a, b);
    expect(figures["false_refused"]).toMatchObject({ a: 0.25, b: 0, difference: -0.25, high: 0, wins: 1, losses: 0 });
    expect(figures).not.toHaveProperty("refused");
  });

  it("compares refusals over the queries that nothing fits alone", async () => {
    const nothing = { relevant: [] };
    const { figures } = await compareAnswers(
      [...a, answer("5", "x", nothing), answer("6", "x", nothing)],
      [...b, answer("5", "x", { ...nothing, refused: true }), answer("6", "x", nothing)],
    );
    expect(figures["refused"]).toEqual({ a: 0, b: 0.5, difference: 0.5, low: 0, high: 1, wins: 1, losses: 0, ties: 1 });
    expect(figures["recall@1"]?.ties).toBe(2);
  });

  it("names the queries that changed most, with the rank before and after", async () => {
    const { changed } = await compareAnswers(a, b);
    expect(changed).toEqual([
      { id: "3", query: "query 3", a_rank: null, b_rank: 3, difference: 0.5 },
      { id: "1", query: "query 1", a_rank: 2, b_rank: 1, difference: 0.3691 },
      { id: "2", query: "query 2", a_rank: 1, b_rank: 2, difference: -0.3691 },
    ]);
  });

  it("finds nothing between a system and itself", async () => {
    const { figures, changed } = await compareAnswers(a, a);
    expect(changed).toEqual([]);
    for (const { difference, low, high, ties } of Object.values(figures))
      expect([difference, low, high, ties]).toEqual([0, 0, 0, 4]);
  });
});
