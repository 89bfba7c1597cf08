import { describe, expect, it } from "vitest";
import { createRecentRetrievals, type NotedRetrieval } from "./recent-retrievals.ts";

const DAY = 24 * 60 * 60_000;
const retrieval = (traceId: string, at: number): NotedRetrieval => ({
  traceId,
  at,
  signature: [],
  toolIds: ["a"],
  called: new Set(),
});

describe("recent retrievals", () => {
  it("are the last eight", () => {
    const recent = createRecentRetrievals();
    for (let index = 0; index < 9; index++) recent.add(retrieval(`t${index}`, index));
    const traceOf = (traceId: string): string | undefined => recent.before({ traceId, toolId: "a", at: 10 })?.traceId;
    expect(traceOf("t1")).toBe("t1");
    expect(traceOf("t0")).toBe("t8");
  });

  it("prefer the later of two with the same trace id", () => {
    const recent = createRecentRetrievals();
    recent.add(retrieval("t", 1));
    recent.add(retrieval("t", 2));
    expect(recent.before({ traceId: "t", toolId: "a", at: 10 })?.at).toBe(2);
  });
});

describe("the calls that count on one day", () => {
  it("are ten of each tool, and of two hundred tools", () => {
    const recent = createRecentRetrievals();
    const counted = (toolId: string, now: number): number =>
      Array.from({ length: 20 }, () => recent.count(toolId, now)).filter(Boolean).length;
    expect(counted("a", 5)).toBe(10);
    for (let index = 1; index < 200; index++) expect(recent.count(`tool_${index}`, 5)).toBe(true);
    expect(recent.count("one_more", 5)).toBe(false);
    expect(recent.count("tool_7", DAY - 1)).toBe(true);
    expect(recent.count("one_more", DAY)).toBe(true);
    expect(counted("a", DAY)).toBe(10);
  });
});
