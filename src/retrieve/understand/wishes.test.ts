import { describe, expect, it } from "vitest";
import { isWish, startsClause } from "./clauses.ts";

describe("isWish", () => {
  it.each([
    "Find the retention report",
    "please also rename it",
    "how deep is the backlog?",
    "I'd like a summary of it",
    "could you check the logs",
    "we need the numbers for May",
    "and then send it to Ann",
    "the second dashboard too?",
    "which dashboards exist there",
  ])("takes %j for one", (clause) => {
    expect(isWish(clause)).toBe(true);
  });

  it.each([
    "The worker queue feels backed up.",
    "I sell on Amazon",
    "our board is number 58",
    "search",
    "I have three servers",
  ])("takes %j for none", (clause) => {
    expect(isWish(clause)).toBe(false);
  });
});

it("startsClause is true for a wish and for who wants something, not for a thing", () => {
  expect(startsClause("send it to Ann")).toBe(true);
  expect(startsClause("I need its id")).toBe(true);
  expect(startsClause("pepper prices")).toBe(false);
});
