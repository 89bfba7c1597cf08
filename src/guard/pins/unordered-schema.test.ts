import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { unorderedSchema } from "./definition.ts";

const same = (one: unknown, other: unknown): boolean =>
  canonicalJson(unorderedSchema(one)) === canonicalJson(unorderedSchema(other));

describe("a schema without the orders that mean nothing", () => {
  it("is the same for each order of its sets, at any depth", () => {
    const set = fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 6 });
    const keyword = fc.constantFrom("required", "enum", "type", "anyOf", "oneOf", "allOf", "examples");
    fc.assert(
      fc.property(set, keyword, (values, name) => {
        const wrap = (list: readonly string[]): object => ({
          properties: {
            [name]: { items: { [name]: list.map((each) => (name.endsWith("Of") ? { const: each } : each)) } },
          },
        });
        expect(same(wrap(values), wrap(values.toReversed()))).toBe(true);
      }),
    );
  });

  it.each([
    ["prefixItems", { prefixItems: [{ type: "string" }, {}] }, { prefixItems: [{}, { type: "string" }] }],
    ["default", { default: { required: ["a", "b"] } }, { default: { required: ["b", "a"] } }],
    ["constant", { const: ["a", "b"] }, { const: ["b", "a"] }],
    ["value of an enum", { enum: [["a", "b"]] }, { enum: [["b", "a"]] }],
    ["value that is missing", { required: ["a", "b"] }, { required: ["a"] }],
    ["order of a tuple of the older kind", { items: [{ type: "string" }, {}] }, { items: [{}, { type: "string" }] }],
    [
      "order within what nobody knows",
      { "x-steps": { required: ["a", "b"] } },
      { "x-steps": { required: ["b", "a"] } },
    ],
    ["order of what is no schema", { properties: { a: ["x", "y"] } }, { properties: { a: ["y", "x"] } }],
  ])("is another for another %s", (_what, one, other) => {
    expect(same(one, other)).toBe(false);
  });

  it.each(["dependentRequired", "dependencies"])(
    "takes the names that depend on a property as a set, in %s",
    (keyword) => {
      const schema = (names: readonly string[]): object => ({
        [keyword]: { card: names, other: { required: names } },
      });
      expect(same(schema(["a", "b"]), schema(["b", "a"]))).toBe(true);
      expect(same(schema(["a", "b"]), schema(["a"]))).toBe(false);
    },
  );

  it.each([
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
  ])("takes the sets within %s as sets", (keyword) => {
    const schema = (names: readonly string[]): object => ({ [keyword]: { required: names } });
    expect(same(schema(["a", "b"]), schema(["b", "a"]))).toBe(true);
  });

  it("keeps the order of values that a list beside them names one by one", () => {
    const schema = (values: readonly string[]): object => ({ enum: values, enumNames: ["Read", "Delete all"] });
    expect(same(schema(["r", "d"]), schema(["d", "r"]))).toBe(false);
  });

  it.each([{ examples: ["r"] }, { default: ["r"] }, { required: ["x"] }, { items: [{}] }, { enumNames: "none" }])(
    "takes values as a set beside %j",
    (beside) => {
      expect(same({ enum: ["r", "d"], ...beside }, { enum: ["d", "r"], ...beside })).toBe(true);
    },
  );

  it.each([
    { $ref: "#/$defs/a/anyOf/0" },
    { $dynamicRef: "#/$defs/a/anyOf/0" },
    { $ref: "#/$defs/a/anyOf/%30" },
    { items: [{ $ref: "#/$defs/a/anyOf/0/not" }] },
  ])("keeps every order where %j counts on one", (reference) => {
    const schema = (first: string, second: string): object => ({
      properties: { to: reference },
      $defs: { a: { anyOf: [{ const: first }, { const: second }] } },
    });
    expect(same(schema("us", "them"), schema("them", "us"))).toBe(false);
    expect(same(schema("us", "them"), schema("us", "them"))).toBe(true);
  });

  it.each([
    { $ref: "#/$defs/a" },
    { $ref: "#/$defs/a1/anyOf" },
    { description: "See #/$defs/a/anyOf/0" },
    { $comment: null },
  ])("takes sets as sets where %j counts on no order", (reference) => {
    const schema = (first: string, second: string): object => ({
      properties: { to: reference },
      $defs: { a: { anyOf: [{ const: first }, { const: second }] } },
    });
    expect(same(schema("us", "them"), schema("them", "us"))).toBe(true);
  });

  it("shows the values themselves, sorted", () => {
    expect(unorderedSchema({ enum: ["b", { z: 1, a: [2, 1] }, 10, null] })).toEqual({
      enum: ["b", 10, null, { z: 1, a: [2, 1] }],
    });
  });

  it("keeps a property called __proto__", () => {
    const hostile = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as object;
    expect(same(hostile, { properties: {} })).toBe(false);
  });
});
