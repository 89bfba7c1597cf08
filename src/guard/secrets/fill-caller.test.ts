import { describe, expect, it } from "vitest";
import { callerProblem, fillCaller } from "./fill-members.ts";

describe("the caller in a reference", () => {
  it("stands where its name and its tenant are meant, as often as they are", () => {
    const caller = { id: "ann", tenant: "acme" };
    expect(fillCaller("/{tenant}/{principal}/{principal}", caller)).toBe("/acme/ann/ann");
  });

  it("is _default where nobody asks, and so is the tenant of whoever has none", () => {
    expect([undefined, { id: "ann" }].map((caller) => fillCaller("/{tenant}/{principal}", caller))).toEqual([
      "/_default/_default",
      "/_default/ann",
    ]);
  });

  it.each([
    ["../bob", "%2E.%2Fbob"],
    ["_default", "%5Fdefault"],
    ["-rf", "%2Drf"],
    ["a.b-c_d", "a.b-c_d"],
    ["{tenant}", "%7Btenant%7D"],
    ["%2e", "%252e"],
    ["$&", "%24%26"],
  ])("is one part of a path: %s is %s", (id, written) => {
    expect(fillCaller("{principal}", { id })).toBe(written);
    expect(fillCaller("{tenant}", { id: "ann", tenant: id })).toBe(written);
  });
});

describe("callerProblem", () => {
  const shared = "has two names without / between them, so that two callers could share one secret";
  const nameless = "depends on the caller, whose name is empty or not a string";
  it.each([
    ["{tenant}{principal}", shared],
    ["{principal}--{tenant}", shared],
    ["{principal}-{principal}", shared],
    ["{tenant}/x/{principal}", undefined],
    ["plain", undefined],
  ])("of %s is %s", (reference, problem) => {
    expect(callerProblem(reference, { id: "ann", tenant: "acme" })).toBe(problem);
    expect(callerProblem(reference, undefined)).toBe(problem);
  });

  it.each([
    ["{principal}", { id: "" }, nameless],
    ["{principal}", { id: "\uD800" }, nameless],
    ["{tenant}", { id: "ann", tenant: "" }, nameless],
    ["{tenant}", { id: "ann" }, undefined],
    ["{tenant}", { id: "" }, undefined],
    ["{principal}", { id: "ann", tenant: "" }, undefined],
  ])("of %s for %j is %s", (reference, caller, problem) => {
    expect(callerProblem(reference, caller)).toBe(problem);
  });
});
