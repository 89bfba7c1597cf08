import { describe, expect, it } from "vitest";
import { readShipped, SHIPPED_FILES } from "../../adapters/embedders/shipped-files.ts";
import { createWordPiece } from "../../adapters/embedders/wordpiece/wordpiece.ts";
import { stepsOf } from "../../retrieve/understand/clauses.ts";
import { longRequests, shortRequests, syntheticQueries, syntheticTools } from "./synthetic-tools.ts";

const wordPiece = createWordPiece(readShipped(SHIPPED_FILES.vocabulary).toString("utf8"));
const tokensOf = (text: string): number => wordPiece.encode(text, { maxTokens: 1000 }).length;

describe("synthetic tools and requests", () => {
  it("gives every tool a name of its own", () => {
    const ids = syntheticTools(30_000).map(({ namespace, name }) => `${namespace}.${name}`);
    expect(new Set(ids).size).toBe(30_000);
  });

  it("asks for one thing in at most 32 tokens where requests are short", () => {
    const requests = shortRequests(1000);
    expect(Math.max(...requests.map(tokensOf))).toBeLessThanOrEqual(32);
    expect(Math.min(...requests.map(tokensOf))).toBeGreaterThanOrEqual(18);
    expect(requests.filter((request) => stepsOf(request) !== undefined)).toEqual([]);
  });

  it("asks in about 120 tokens where requests are long", () => {
    const lengths = longRequests(1000).map(tokensOf);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(110);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(150);
  });

  it("has other requests in each of three rounds of a hundred", () => {
    for (const requests of [syntheticQueries, shortRequests, longRequests]) {
      const all = [0, 100, 200].flatMap((from) => requests(100, from));
      expect(new Set(all).size).toBe(300);
    }
  });
});
