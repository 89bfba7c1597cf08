import { describe, expect, it } from "vitest";
import { nestedRepetitions } from "./nested-repetitions.ts";

describe("nestedRepetitions", () => {
  it.each([
    [/(?:a+)*/, ["(?:a+)*"]],
    [/x(a|b*)+y/, ["(a|b*)+"]],
    [/((a+)b?){2,}/, ["((a+)b?){2,}"]],
    [/(?:\(a{3,}\))+/, [String.raw`(?:\(a{3,}\))+`]],
    [/a+b*(?:c+)?(?:d+){0,3}/, []],
    [/[(a+]*(b)*\++/, []],
    [/(?:a{1,9}b)*/, []],
  ])("finds in %s %j", (expression, nested) => {
    expect(nestedRepetitions(expression)).toEqual(nested);
  });
});
