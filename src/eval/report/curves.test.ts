import { expect, it } from "vitest";
import type { AnsweredQuery } from "../answer.ts";
import { rankHistogram, recallCurve, timeEdges, timeHistogram } from "./curves.ts";

function answer(ranking: string, relevant: string): AnsweredQuery {
  const tools = [...ranking].map((id) => ({ id, score: 0.5, semanticScore: 0.5 }));
  const query = { id: "q", query: "q", alsoOk: [], history: [], style: undefined };
  return { ...query, relevant: [...relevant], ranking: tools, figures: undefined, refused: false, durationMs: 1 };
}

const ANSWERS = [answer("ab", "a"), answer("xaxb", "ab"), answer("xyz", "a"), answer("xyz", "")];

it("recallCurve is the mean recall at each depth, without queries that nothing fits", () => {
  expect(recallCurve(ANSWERS, 4)).toEqual([1 / 3, 0.5, 0.5, 2 / 3]);
  expect(recallCurve([], 2)).toEqual([0, 0]);
});

it("rankHistogram counts the first relevant tool of each query", () => {
  const far = answer(`${"x".repeat(14)}a`, "a");
  const counts = rankHistogram([...ANSWERS, far]).map(({ label, count }) => `${label}: ${count}`);
  expect(counts).toEqual(["1: 1", "2: 1", "3: 0", "4: 0", "5: 0", "6–10: 0", "11–20: 1", "21–50: 0", "none: 1"]);
});

it("times fall into twelve round steps and one for what is slower", () => {
  const times = [...Array.from({ length: 99 }, (_, index) => (index % 10) + 0.5), 80];
  const edges = timeEdges([times]);
  expect(edges).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, Infinity]);
  const bars = timeHistogram(times, edges);
  expect(bars[0]).toEqual({ label: "1", count: 10 });
  expect(bars.at(-1)).toEqual({ label: "> 12", count: 1 });
  expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(100);
  expect(timeEdges([[], []]).every((edge) => edge > 0)).toBe(true);
});
