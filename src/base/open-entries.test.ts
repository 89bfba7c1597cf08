import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { createOpenMap, createOpenSet } from "./open-entries.ts";

setFlagsFromString("--expose-gc");
// As in the program: see cli/start.ts.
setFlagsFromString("--no-allocation-site-pretenuring");
const collect = runInNewContext("gc") as (options?: { readonly type: "minor" }) => void;

/** The megabytes that 3,000 entries of 10 KB leave behind, 32 of which are open at a time, without a full collection. */
function leftBehind(add: (key: number, value: object) => void, remove: (key: number) => void): number {
  const make = (): object => ({ numbers: Array.from({ length: 1250 }, (_, index) => index + 0.5) });
  for (let key = 0; key < 64; key++) {
    add(key, make());
    if (key >= 32) remove(key - 32);
  }
  // The table is now in the old generation, as in any process that has run for a while.
  for (let round = 0; round < 3; round++) collect();
  const before = process.memoryUsage().heapUsed;
  for (let key = 64; key < 3064; key++) {
    add(key, make());
    remove(key - 32);
    if (key % 500 === 0) collect({ type: "minor" });
  }
  collect({ type: "minor" });
  return (process.memoryUsage().heapUsed - before) / 2 ** 20;
}

describe("entries under way", () => {
  it("release a removed value without a full collection", () => {
    const map = createOpenMap<number, object>();
    expect(leftBehind(map.set, map.take)).toBeLessThan(5);
  });

  it("release a removed member of a set without a full collection", () => {
    const set = createOpenSet<object>();
    const removers: (() => void)[] = [];
    const add = (key: number, value: object): void => void (removers[key % 64] = set.add(value));
    expect(leftBehind(add, (key) => removers[key % 64]?.())).toBeLessThan(5);
  });

  it("are found, replaced and removed by key, oldest first", () => {
    const map = createOpenMap<string | number, string>();
    map.set("1", "text");
    map.set(1, "number");
    map.set("1", "replaced");
    expect([map.size, map.get("1"), map.get(1), map.get(2), map.has(2)]).toEqual([
      2,
      "replaced",
      "number",
      undefined,
      false,
    ]);
    expect([...map.entries()]).toEqual([
      ["1", "replaced"],
      [1, "number"],
    ]);
    expect([map.take("1"), map.take("1"), map.size]).toEqual(["replaced", undefined, 1]);
    expect(map.values()).toEqual(["number"]);
    map.clear();
    expect([map.size, map.values()]).toEqual([0, []]);
  });

  it("leave a set one by one, whatever the order, and only once", () => {
    const set = createOpenSet<string>();
    const [first, second, third] = ["first", "second", "third"].map((value) => set.add(value));
    first?.();
    first?.();
    expect(set.values().toSorted()).toEqual(["second", "third"]);
    third?.();
    third?.();
    expect([set.size, set.values()]).toEqual([1, ["second"]]);
    second?.();
    second?.();
    expect(set.size).toBe(0);
  });
});
