import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

describe("canonicalJson", () => {
  it("orders the keys of every object and keeps the order of arrays", () => {
    expect(canonicalJson({ b: [2, { d: 1, c: null }], a: "x" })).toBe('{"a":"x","b":[2,{"c":null,"d":1}]}');
  });

  it("leaves out what JSON leaves out, and writes null for it in an array", () => {
    expect(canonicalJson({ a: undefined, b: () => 1, c: [undefined, Number.NaN], d: -0 })).toBe(
      '{"c":[null,null],"d":0}',
    );
  });

  it("sees own properties only, also one called __proto__", () => {
    const given = Object.assign(Object.create({ inherited: 1 }) as object, JSON.parse('{"a":1}'));
    expect(canonicalJson(given)).toBe('{"a":1}');
    expect(canonicalJson(JSON.parse('{"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1}}');
  });

  it("says the same as JSON.stringify for any JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("does not depend on the order in which keys were added", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      }),
    );
  });
});
