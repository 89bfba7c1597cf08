import { describe, expect, it } from "vitest";
import type { AnsweredQuery } from "../answer.ts";
import { missKind, toMiss, worstPlaced } from "./misses.ts";

function answer(ranking: string, relevant: string, refused = false): AnsweredQuery {
  return {
    id: "q",
    query: "a request",
    relevant: [...relevant],
    alsoOk: [],
    history: [],
    style: "goal",
    ranking: [...ranking].map((id, index) => ({ id, score: 0.9 - index / 10, semanticScore: 0.8 - index / 10 })),
    figures: undefined,
    refused,
    durationMs: 1,
  };
}

describe("missKind", () => {
  it.each([
    ["vwxya", "a", false, undefined],
    ["vwxyza", "a", false, "low"],
    ["avwxyzb", "ab", false, "low"],
    ["uvwxyz", "a", false, "lost"],
    ["abcdefg", "abcdefg", false, undefined],
    ["abcdexfg", "abcdefg", false, "low"],
    ["a", "a", true, "refused"],
    ["xyz", "a", true, "lost"],
    ["xyz", "", false, "answered"],
    ["xyz", "", true, undefined],
  ] as const)("of %s for %s, refused: %s, is %s", (ranking, relevant, refused, kind) => {
    expect(missKind(answer(ranking, relevant, refused))).toBe(kind);
  });
});

it("a miss has where each relevant tool stands, and the first five with scores", () => {
  const missed = answer("avwxyzb", "abc");
  expect(worstPlaced(missed)).toBe("c");
  expect(toMiss(missed, "low", "Because.")).toEqual({
    id: "q",
    query: "a request",
    style: "goal",
    kind: "low",
    relevant: [
      { id: "a", rank: 1, score: 0.9 },
      { id: "b", rank: 7, score: 0.3 },
      { id: "c", rank: null, score: null },
    ],
    returned: [
      { id: "a", score: 0.9, semantic_score: 0.8, relevant: true },
      { id: "v", score: 0.8, semantic_score: 0.7, relevant: false },
      { id: "w", score: 0.7, semantic_score: 0.6, relevant: false },
      { id: "x", score: 0.6, semantic_score: 0.5, relevant: false },
      { id: "y", score: 0.5, semantic_score: 0.4, relevant: false },
    ],
    reason: "Because.",
  });
});
