import { expect, it } from "vitest";
import { areOpposed, areRelated, kindOf, VERB_GROUPS, verbGroupOf } from "./verb-groups.ts";

it("puts verbs that mean the same into one group", () => {
  expect(["delete", "remove", "drop", "erase"].map(verbGroupOf)).toEqual(["delete", "delete", "delete", "delete"]);
  expect(verbGroupOf("banana")).toBeUndefined();
});

it("knows what changes something and what only looks", () => {
  expect([kindOf("delete"), kindOf("find"), kindOf("convert")]).toEqual(["write", "read", "work"]);
});

it("lets every read stand in for another, and a write only for its kin", () => {
  expect(areRelated("get", "find")).toBe(true);
  expect(areRelated("upload", "create")).toBe(true);
  expect(areRelated("delete", "create")).toBe(false);
  expect(areRelated("delete", "get")).toBe(false);
});

it("knows what undoes what, both ways round", () => {
  expect(areOpposed("restore", "delete")).toBe(true);
  expect(areOpposed("delete", "restore")).toBe(true);
  expect(areOpposed("delete", "delete")).toBe(false);
});

it("relates no group to one that undoes it", () => {
  for (const one of VERB_GROUPS) {
    for (const other of VERB_GROUPS)
      expect([one, other, areOpposed(one, other) && areRelated(one, other)]).toEqual([one, other, false]);
  }
});
