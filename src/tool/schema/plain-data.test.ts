import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPlainData } from "./plain-data.ts";

function losses(value: unknown): [string, string][] {
  const found: [string, string][] = [];
  toPlainData(value, (path, what) => found.push([path, what]));
  return found;
}

describe("toPlainData", () => {
  it("copies any JSON value and shares nothing that can change with it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = toPlainData(value);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        if (typeof value === "object" && value !== null) {
          expect(copy).not.toBe(value);
          expect(Object.isFrozen(copy)).toBe(true);
        }
      }),
    );
  });

  it("freezes at every depth", () => {
    const copy = toPlainData({ a: [{ b: {} }] }) as { a: [{ b: object }] };
    expect([copy, copy.a, copy.a[0], copy.a[0].b].every((part) => Object.isFrozen(part))).toBe(true);
  });

  it("cuts a cycle and says where it was", () => {
    const cyclic: Record<string, unknown> = { name: "x" };
    cyclic["properties"] = { self: cyclic };
    expect(toPlainData(cyclic)).toEqual({ name: "x", properties: { self: null } });
    expect(losses(cyclic)).toEqual([["properties.self", "a cycle: it contains itself"]]);
  });

  it("keeps a value that two parents share", () => {
    const shared = { type: "string" };
    expect(toPlainData({ a: shared, b: [shared] })).toEqual({ a: { type: "string" }, b: [{ type: "string" }] });
    expect(losses({ a: shared, b: [shared] })).toEqual([]);
  });

  it("reports functions, symbols, bigints and numbers that JSON cannot hold", () => {
    expect(losses({ a: () => 1, b: [Symbol("s")], c: 1n, d: Number.POSITIVE_INFINITY }).map(([path]) => path)).toEqual([
      "a",
      "b.0",
      "c",
      "d",
    ]);
  });

  it("survives a property, and an object, that throws when it is read", () => {
    const hostile = {
      get bad(): never {
        throw new Error("no");
      },
      good: 1,
      proxy: new Proxy({}, { ownKeys: () => { throw new Error("no"); } }), // prettier-ignore
    };
    expect(toPlainData(hostile)).toEqual({ good: 1, proxy: null });
    expect(losses(hostile)).toEqual([
      ["bad", "not readable"],
      ["proxy", "not readable"],
    ]);
  });

  it("does not let a key called __proto__ change the copy's prototype", () => {
    const copy = toPlainData(JSON.parse('{"__proto__":{"polluted":true}}')) as Record<string, unknown>;
    expect(copy["polluted"]).toBeUndefined();
    expect(Object.keys(copy)).toEqual(["__proto__"]);
  });

  it("ends on data that is bottomless or doubles at each level", () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(losses(deep)).toHaveLength(1);
    let wide: unknown = {};
    for (let level = 0; level < 100; level++) wide = [wide, wide];
    expect(losses(wide).length).toBeGreaterThan(0);
  });

  it("leaves out what lies beyond the limits, and tells it once", () => {
    const told: string[] = [];
    const copy = (value: unknown): unknown =>
      toPlainData(value, (path, what) => told.push(`${path}: ${what}`), { values: 4, characters: 10 });
    expect(copy({ a: [1, 2, 3, 4, 5], b: 6 })).toEqual({ a: [1, 2, null] });
    expect(copy({ a: "12345", b: "123456" })).toEqual({ a: "12345", b: "123" });
    expect(told).toEqual(["a.2: part of more than 4 values", "b: part of more than 10 characters"]);
  });
});
