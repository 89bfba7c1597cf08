import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runInNewContext } from "node:vm";
import { copyArguments, copyPlain } from "./copy-arguments.ts";

describe("copyArguments", () => {
  it("copies any JSON object exactly, sharing nothing", () => {
    const withoutProto = fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }))
      .filter((value) => !JSON.stringify(value).includes("__proto__"));
    fc.assert(
      fc.property(withoutProto, (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(copyArguments(plain).arguments).toEqual(plain);
        expect(copyPlain(plain)).toEqual(plain);
      }),
    );
    const inner = { list: [1] };
    const { arguments: copied } = copyArguments({ inner });
    inner.list.push(2);
    expect(copied).toEqual({ inner: { list: [1] } });
  });

  it("takes members that are undefined for absent, and objects of any realm or none for plain", () => {
    expect(copyArguments({ a: undefined, b: 1 }).arguments).toEqual({ b: 1 });
    expect(copyArguments(Object.assign(Object.create(null), { a: 1 })).arguments).toEqual({ a: 1 });
    expect(copyArguments(runInNewContext("({ a: { b: [1] } })")).arguments).toEqual({ a: { b: [1] } });
  });

  it("says whether the arguments are large", () => {
    const of = (value: unknown): boolean => copyArguments({ value }).isLarge;
    expect([of("a".repeat(30_000)), of(Array.from({ length: 1_900 }, () => 0))]).toEqual([false, false]);
    expect([of("a".repeat(40_000)), of(Array.from({ length: 2_100 }, () => 0))]).toEqual([true, true]);
    expect(of({ ["k".repeat(200_000)]: 0 })).toBe(true);
  });

  it("keeps names that only look dangerous", () => {
    expect(copyArguments({ constructor: "x", prototype: 1 }).arguments).toEqual({ constructor: "x", prototype: 1 });
  });

  it("refuses data that is too deep or grows without end", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 300; level++) deep = [deep];
    expect(() => copyArguments({ deep })).toThrow("is nested more than 200 levels deep");
    let wide: unknown = 1;
    for (let level = 0; level < 60; level++) wide = [wide, wide];
    expect(() => copyArguments({ wide })).toThrow("is part of more than 1000000 values");
  });

  it("refuses what JSON cannot hold, and says where", () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [10n, "arguments.a.0 is a bigint, which JSON cannot hold. Give plain JSON data."],
      [undefined, "arguments.a.0 is undefined, which JSON cannot hold. Give plain JSON data."],
      [new Map(), "arguments.a.0 is a Map, not plain data. Give a plain object, or a string that represents it."],
      [
        Number.POSITIVE_INFINITY,
        "arguments.a.0 is Infinity, which JSON cannot hold. Give a finite number, a string or null.",
      ],
    ];
    for (const [value, message] of cases) expect(() => copyArguments({ a: [value] })).toThrow(message);
  });
});

describe("copyPlain", () => {
  it("takes over what is no plain data as it is", () => {
    const date = new Date(0);
    expect(copyPlain({ date }).date).toBe(date);
  });
});
