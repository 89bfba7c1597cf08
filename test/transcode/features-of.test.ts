import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../src/tool/json-schema.ts";
import { featuresOf } from "./features-of.ts";

describe("featuresOf", () => {
  it.each<[JsonSchema, readonly string[]]>([
    [{ type: "object" }, []],
    [{ type: "object", properties: { a: { type: "string", format: "date" } }, required: ["a"] }, ["format"]],
    [
      { type: "object", properties: { a: { type: ["string", "null"] } } },
      ["nullable", "optionalProperties", "typeArrays"],
    ],
    [{ type: "object", additionalProperties: { type: "object" } }, ["additionalProperties", "nestedObjects"]],
    [{ type: "object", anyOf: [{ required: ["a"] }] }, ["anyOf", "rootCombinators"]],
    [{ type: "object", properties: { next: { $ref: "#" } }, required: ["next"] }, ["recursion", "ref"]],
    [{ type: "object", "x-vendor": true, additionalProperties: false }, ["unknownKeywords"]],
    [
      { type: "object", properties: { a: { type: "array", items: [{ const: 1 }] } }, required: ["a"] },
      ["arrays", "const", "tuples"],
    ],
    [{ type: "object", properties: { a: { default: { anyOf: [{ pattern: "x" }] } } }, required: ["a"] }, ["default"]],
  ])("finds in %j: %j", (schema, expected) => {
    expect([...featuresOf(schema)].toSorted()).toEqual(expected);
  });

  it("tells a schema used twice from one inside itself", () => {
    const shared: JsonSchema = { type: "string" };
    const twice: JsonSchema = { type: "object", properties: { a: shared, b: shared } };
    const itself: Record<string, unknown> = { type: "object" };
    itself["properties"] = { itself };
    expect([featuresOf(twice).has("recursion"), featuresOf(itself as JsonSchema).has("recursion")]).toEqual([
      false,
      true,
    ]);
  });

  it("reads a schema that is deeper than the call stack", () => {
    let schema: JsonSchema = { pattern: "x" };
    for (let level = 0; level < 100_000; level++) schema = { properties: { a: schema } };
    expect(featuresOf(schema)).toContain("pattern");
  });
});
