import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../tool/json-schema.ts";
import { repairArguments } from "./repair-arguments.ts";

const withOne = (property: unknown, required: readonly string[] = []): JsonSchema =>
  ({ type: "object", properties: { it: property }, required }) as JsonSchema;

describe("repairArguments", () => {
  it.each<[string, unknown, unknown, unknown]>([
    ["text to a number", { type: "integer" }, "5", 5],
    ["text to a boolean", { type: "boolean" }, "True", true],
    ["JSON text to an object", { type: "object" }, '{"a":1}', { a: 1 }],
    ["JSON text to a list", { type: "array", items: { type: "integer" } }, '[1,"2"]', [1, 2]],
    ["one item to a list", { type: "array", items: { type: "string" } }, "a", ["a"]],
    [
      "keys and values to an object",
      { type: "object", additionalProperties: { type: "integer" } },
      [{ key: "a", value: "1" }],
      { a: 1 },
    ],
    ["a listed value with blanks", { type: "string", enum: ["asc", "desc"] }, " asc ", "asc"],
    ["a listed number as text", { enum: [1, 2] }, "2", 2],
    ["the one branch that fits", { anyOf: [{ type: "number" }, { type: "boolean" }] }, "true", true],
  ])("reads %s", (_what, property, given, expected) => {
    const { arguments: repaired, repairs } = repairArguments({ it: given }, withOne(property));
    expect(repaired).toEqual({ it: expected });
    expect(repairs[0]?.path).toBe("/it");
  });

  it("leaves out null for what may be left out, also inside", () => {
    const schema = withOne({ type: "object", properties: { a: { type: "string" }, b: { type: ["string", "null"] } } });
    expect(repairArguments({ it: { a: null, b: null } }, schema)).toEqual({
      arguments: { it: { b: null } },
      repairs: [{ path: "/it/a", message: "null for what may be left out: left out" }],
    });
  });

  it.each<[string, JsonSchema, unknown]>([
    ["text where text is taken", withOne({ type: ["string", "number"] }), "5"],
    ["null for what is required", withOne({ type: "string" }, ["it"]), null],
    ["text that is no number", withOne({ type: "number" }), "five"],
    ["text of several items", withOne({ type: "array", items: { type: "string" } }), "a, b"],
    ["a listed value in other letters", withOne({ enum: ["asc"] }), "ASC"],
    ["pairs with more than a key and a value", withOne({ type: "object" }), [{ key: "a", value: 1, note: "x" }]],
    ["a list of pairs where lists are taken", withOne({ type: ["object", "array"] }), [{ key: "a", value: 1 }]],
    ["a number where text is wanted", withOne({ type: "string" }), 5],
  ])("leaves %s alone", (_what, schema, given) => {
    expect(repairArguments({ it: given }, schema)).toEqual({ arguments: { it: given }, repairs: [] });
  });

  it("gives parameters their own names again", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { "filter[id]": { type: "integer" }, $top: { type: "integer" } },
    };
    expect(repairArguments({ filter_id_: 1, _top: "2" }, schema)).toEqual({
      arguments: { "filter[id]": 1, $top: 2 },
      repairs: [
        { path: "/filter[id]", message: "was given as filter_id_" },
        { path: "/$top", message: "was given as _top" },
        { path: "/$top", message: "text, read as a number" },
      ],
    });
  });

  it("takes alternatives out of their wrapper", () => {
    const branch = (name: string): JsonSchema => ({
      type: "object",
      properties: { [name]: { type: "string" }, n: { type: "integer" } },
      required: [name],
    });
    const schema = { anyOf: [branch("url"), branch("path")] } as JsonSchema;
    expect(repairArguments({ input: { url: "x", n: null } }, schema).arguments).toEqual({ url: "x" });
  });

  it("follows references and parts", () => {
    const schema = {
      allOf: [{ $ref: "#/$defs/Paged" }, { properties: { q: { type: "string" } } }],
      $defs: { Paged: { type: "object", properties: { page: { type: "integer" } } } },
    } as JsonSchema;
    expect(repairArguments({ q: null, page: "3" }, schema).arguments).toEqual({ page: 3 });
  });

  it("keeps a member named __proto__ a member", () => {
    const given = JSON.parse('{"it":"1","__proto__":{"x":1}}') as Record<string, unknown>;
    const { arguments: repaired } = repairArguments(given, withOne({ type: "integer" }));
    expect([JSON.stringify(repaired), Object.hasOwn(repaired, "__proto__")]).toEqual([
      '{"it":1,"__proto__":{"x":1}}',
      true,
    ]);
  });

  it("gives up in time on a schema that doubles itself", () => {
    const definitions = Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { anyOf: [next, { allOf: [next, next] }] }] as const;
    });
    const schema = {
      ...withOne({ $ref: "#/$defs/d0" }),
      $defs: { ...Object.fromEntries(definitions), d40: { type: "number" } },
    };
    expect(repairArguments({ it: "x" }, schema).arguments).toEqual({ it: "x" });
  });
});
