import { describe, expect, it } from "vitest";
import { createEvidence } from "./evidence.ts";

const DAY = 24 * 60 * 60_000;

function evidence(maxShares: number) {
  let now = 0;
  const kept = createEvidence({ halfLifeMs: 14 * DAY, maxShares }, { now: () => now });
  return {
    kept,
    add(term: number, principal: string, toolId = "refund"): void {
      now += DAY / 100;
      kept.add({ term, toolId, principal }, "worked");
    },
    logOdds: (term: number) => kept.logOdds(term, "refund", now),
  };
}

describe("evidence", () => {
  it("never holds more than its limit, and keeps the latest", () => {
    const { kept, add, logOdds } = evidence(100);
    for (let term = 0; term < 1_000; term++) {
      add(term, `principal ${term % 10}`);
      expect(kept.sharesOf()).toBeLessThanOrEqual(100);
    }
    expect(kept.sharesOf()).toBeGreaterThan(85);
    expect(logOdds(0)).toBe(0);
    expect(logOdds(999)).toBeGreaterThan(0.6);
  });

  it("gives one principal a quarter of the limit", () => {
    const { kept, add, logOdds } = evidence(200);
    add(-5, "ann");
    for (let term = 0; term < 500; term++) add(term, "bot");
    expect(kept.sharesOf("bot")).toBeGreaterThan(40);
    expect(kept.sharesOf("bot")).toBeLessThanOrEqual(50);
    expect(logOdds(-5)).toBeGreaterThan(0.4);
  });

  it("hears at most sixteen principals on one word and tool, the latest of them", () => {
    const { kept, add } = evidence(10_000);
    for (let who = 0; who < 40; who++) add(1, `p${who}`);
    expect(kept.sharesOf()).toBe(16);
    expect([kept.sharesOf("p23"), kept.sharesOf("p24"), kept.sharesOf("p39")]).toEqual([0, 1, 1]);
  });

  it("counts nothing of a tool that it forgot", () => {
    const { kept, add, logOdds } = evidence(100);
    for (const principal of ["ann", "bob"]) add(1, principal);
    add(1, "ann", "other");
    kept.forget("refund");
    expect([kept.sharesOf(), kept.sharesOf("bob"), logOdds(1)]).toEqual([1, 0, 0]);
  });
});
