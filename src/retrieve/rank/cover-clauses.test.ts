import { describe, expect, it } from "vitest";
import { coverClauses, type Rankable } from "./cover-clauses.ts";

interface NamedTool extends Rankable {
  readonly id: string;
}
const tool = (id: string, score: number, ...wishes: number[]): NamedTool => ({ id, score, wishes });
const ids = (items: readonly NamedTool[]): string => items.map(({ id }) => id).join("");

describe("coverClauses", () => {
  it("brings in the tool of a wish that the first places leave out", () => {
    const ranked = [
      tool("a", 0.9, 0.9, 0.1),
      tool("b", 0.8, 0.8, 0.1),
      tool("c", 0.7, 0.7, 0.1),
      tool("d", 0.6, 0.1, 0.9),
    ];
    expect(ids(coverClauses(ranked, 3))).toBe("abdc");
  });

  it("keeps the order where every wish has its tool", () => {
    const ranked = [
      tool("a", 0.9, 0.9, 0.1),
      tool("b", 0.8, 0.1, 0.9),
      tool("c", 0.7, 0.5, 0.5),
      tool("d", 0.6, 0.5, 0.5),
    ];
    expect(ids(coverClauses(ranked, 2))).toBe("abcd");
  });

  it("leaves out a wish that no tool serves nearly as well as another", () => {
    const ranked = [
      tool("a", 0.9, 0.9, 0.1),
      tool("b", 0.8, 0.8, 0.1),
      tool("c", 0.7, 0.7, 0.1),
      tool("d", 0.6, 0.1, 0.6),
    ];
    expect(ids(coverClauses(ranked, 3))).toBe("abcd");
  });

  it("never gives away the first place", () => {
    const ranked = [
      tool("a", 0.9, 0.2, 0.2, 0.2),
      tool("b", 0.8, 0.9, 0.1, 0.1),
      tool("c", 0.7, 0.1, 0.9, 0.1),
      tool("d", 0.6, 0.1, 0.1, 0.9),
    ];
    expect(ids(coverClauses(ranked, 3))).toBe("abcd");
    expect(ids(coverClauses(ranked, 1))).toBe("abcd");
  });

  it("never gives away a place that another wish claims", () => {
    const ranked = [
      tool("a", 0.9, 0.2, 0.2),
      tool("b", 0.8, 0.2, 0.2),
      tool("c", 0.7, 0.9, 0.1),
      tool("d", 0.6, 0.1, 0.9),
    ];
    expect(ids(coverClauses(ranked, 3))).toBe("acdb");
  });

  it("takes everything as it is where all fit", () => {
    const ranked = [tool("a", 0.9, 0.1), tool("b", 0.8, 0.9)];
    expect(ids(coverClauses(ranked, 5))).toBe("ab");
    expect(coverClauses([], 5)).toEqual([]);
  });
});
