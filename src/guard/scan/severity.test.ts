import { expect, it } from "vitest";
import { reaches, worst } from "./finding.ts";

it("a severity reaches itself and milder ones", () => {
  expect([reaches("high", "high"), reaches("high", "low"), reaches("low", "high")]).toEqual([true, true, false]);
});

it("the worst of several is the worst, in whatever order", () => {
  expect(worst(["low", "critical", "medium"])).toBe("critical");
  expect(worst(["critical", "info"])).toBe("critical");
  expect(worst([])).toBeUndefined();
});
