import { describe, expect, it } from "vitest";
import { getNewest, setNewest } from "./remember.ts";

describe("a bounded map", () => {
  it("drops the oldest entry beyond its limit", () => {
    const map = new Map<string, number>();
    for (const [index, key] of ["a", "b", "c"].entries()) expect(setNewest(map, key, index, 2)).toBe(index);
    expect([...map]).toEqual([
      ["b", 1],
      ["c", 2],
    ]);
  });

  it("drops no entry for one that it replaces", () => {
    const map = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    setNewest(map, "a", 3, 2);
    expect([...map.keys()]).toEqual(["b", "a"]);
  });

  it("keeps an entry that was read over one that was not", () => {
    const map = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    expect(getNewest(map, "a")).toBe(1);
    expect(getNewest(map, "z")).toBeUndefined();
    setNewest(map, "c", 3, 2);
    expect([...map.keys()]).toEqual(["a", "c"]);
  });
});
