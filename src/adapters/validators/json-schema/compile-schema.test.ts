import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Problem } from "../../../execute/validator.port.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { compileSchema, withinLimits } from "./compile-schema.ts";
import { TooCostly } from "./evaluate.ts";

function problemsOf(schema: JsonSchema, value: unknown): readonly Problem[] {
  const checked = compileSchema(schema)(value);
  return checked.valid ? [] : checked.problems;
}

function refusalOf(schema: unknown): string {
  try {
    compileSchema(schema as JsonSchema, { trusted: true });
  } catch (error) {
    if (isArsenalError(error) && error.code === "TOOL_INVALID") return error.message;
    throw error;
  }
  return "compiled";
}

function conditional<Part>(...parts: readonly [Part, Part, Part]): Record<string, Part> {
  return Object.fromEntries(
    ["if", "then", "else"].flatMap((key, index) => parts.slice(index, index + 1).map((part) => [key, part])),
  );
}

/** Schema `n` refers to schema `n + 1` twice. */
function doubling(levels: number): JsonSchema {
  const definitions: Record<string, JsonSchema> = { [`d${levels}`]: { type: "object" } };
  for (let level = 0; level < levels; level++) {
    const $ref = `#/definitions/d${level + 1}`;
    definitions[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  return { $ref: "#/definitions/d0", definitions };
}

/** Ajv, the most used validator, as we would have to set it up. */
function ajv(Draft: typeof Ajv2020 | typeof Ajv = Ajv2020): Ajv2020 | Ajv {
  const options = { allErrors: true, useDefaults: true, ownProperties: true, strict: false, validateSchema: false };
  return addFormats.default(new Draft(options));
}

describe("compileSchema [002-validator-required] [002-validator-type] [002-validator-enum]", () => {
  it("says where each problem is, what is expected and what was there [002-errors-validation]", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        address: { type: "object", properties: { zip: { type: "string" } }, required: ["street"] },
        items: { type: "array", items: { type: ["integer", "null"] } },
        mail: { type: "string", format: "email" },
        count: { type: "integer", minimum: 1 },
        "a/b": { const: "x" },
      },
      additionalProperties: false,
    };
    const value = { address: { zip: 5 }, items: [1, "2"], mail: "nobody", count: 0, "a/b": "y", other: true };
    expect(problemsOf(schema, value).map(({ field, expected, received }) => [field, expected, received])).toEqual([
      ["address.street", "a value", "nothing"],
      ["address.zip", "string", "number 5"],
      ["items.1", "integer or null", 'string "2"'],
      ["mail", "a valid email", 'string "nobody"'],
      ["count", ">= 1", "number 0"],
      ["a/b", '"x"', 'string "y"'],
      ["other", "nothing (known here: address, items, mail, count, a/b)", "boolean true"],
    ]);
  });

  it("gives back the value itself if the schema has no defaults", () => {
    const value = { default: 1 };
    const checked = compileSchema({ properties: { default: { type: "number" } } })(value);
    expect(checked.valid && checked.value).toBe(value);
  });

  it("does not share a default object between calls", () => {
    const check = compileSchema({ properties: { list: { default: [] } } });
    const [first, second] = [check({}), check({})];
    if (!first.valid || !second.valid) throw new Error("refused");
    (first.value as { list: number[] }).list.push(1);
    expect(second.value).toEqual({ list: [] });
  });

  it("keeps a __proto__ member from becoming a prototype when defaults are filled in", () => {
    const checked = compileSchema({ properties: { limit: { default: 5 } } })(
      JSON.parse('{"__proto__":{"admin":true}}'),
    );
    if (!checked.valid) throw new Error("refused");
    expect(Object.getPrototypeOf(checked.value)).toBe(Object.prototype);
    expect((checked.value as { admin?: boolean }).admin).toBeUndefined();
  });

  it("reads prefixItems as draft 2020-12 and an items array as draft-07", () => {
    const modern: JsonSchema = { type: "array", prefixItems: [{ type: "string" }], items: false };
    const older: JsonSchema = { type: "array", items: [{ type: "string" }], additionalItems: false };
    for (const schema of [modern, older]) {
      expect(problemsOf(schema, ["a"])).toEqual([]);
      expect(problemsOf(schema, ["a", "b"])[0]?.expected).toBe("a list of at most 1 items");
    }
  });

  it("cannot be switched off by a schema that calls itself asynchronous, and ignores unknown formats and keywords", () => {
    expect(problemsOf({ $async: true, id: "#a", $id: "#b", type: "string", format: "made-up" }, 5)).toHaveLength(1);
    expect(problemsOf({ type: "string", format: "made-up" }, "x")).toEqual([]);
  });

  it("finds a problem where Ajv finds one, with every keyword", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        address: { type: "object", properties: { zip: { type: "string" } }, required: ["street"] },
        items: { type: "array", items: { type: ["integer", "null"] }, maxItems: 1, minItems: 5, uniqueItems: true },
        mail: { type: "string", format: "email", minLength: 20, maxLength: 2, pattern: "^x" },
        count: { type: "integer", minimum: 1, multipleOf: 7, exclusiveMaximum: -5 },
        "a/b": { const: { x: [1] } },
        unit: { enum: ["c", { f: 1 }] },
        either: { anyOf: [{ type: "string" }, { type: "object", required: ["k"] }] },
        one: { oneOf: [{ type: "number" }, { minimum: 1 }] },
        never: { not: { type: "boolean" } },
        some: { contains: { const: 1 }, minContains: 2 },
        pair: { prefixItems: [{ type: "string" }], items: false },
        when: conditional({ type: "object" }, { required: ["then"] }, { type: "null" }),
        few: { maxProperties: 1, minProperties: 3, propertyNames: { pattern: "^a" } },
        both: { allOf: [{ required: ["p"] }, { $ref: "#/$defs/q" }] },
        needs: { dependentRequired: { a: ["b"] }, dependentSchemas: { a: { required: ["c"] } } },
        rest: { properties: { a: true }, unevaluatedProperties: false },
      },
      $defs: { q: { required: ["q"] } },
      additionalProperties: false,
    };
    const value = {
      address: { zip: 5 },
      items: [1, 1, "2"],
      mail: "nobody",
      count: 0,
      "a/b": { x: [2] },
      unit: { f: 2 },
      either: {},
      one: 5,
      never: true,
      some: [1, 2],
      pair: ["x", 1],
      when: {},
      few: { a: 1, b: 2 },
      both: {},
      needs: { a: 1 },
      rest: { a: 1, b: 2 },
      other: true,
    };
    const check = ajv().compile(schema);
    check(value);
    const theirs = (check.errors ?? []).flatMap(({ instancePath, keyword, params }) => {
      const {
        missingProperty = "",
        additionalProperty = missingProperty,
        unevaluatedProperty = additionalProperty,
      } = params;
      const pointer = unevaluatedProperty === "" ? instancePath : `${instancePath}/${unevaluatedProperty}`;
      return keyword === "if" ? [] : [pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/")];
    });
    const unique = (fields: readonly string[]): readonly string[] => [...new Set(fields)].sort();
    expect(unique(problemsOf(schema, value).map(({ field }) => field))).toEqual(unique(theirs));
  });

  it("fills in defaults where Ajv does, and nowhere else", () => {
    const schema: JsonSchema = {
      properties: {
        page: { $ref: "#/$defs/page", default: {} },
        list: { items: { properties: { x: { default: 1 } } } },
        all: { allOf: [{ properties: { y: { default: 2 } } }] },
        any: { anyOf: [{ properties: { z: { default: 3 } } }] },
        pair: { items: [{ default: 1 }, { default: [] }] },
      },
      $defs: { page: { properties: { size: { default: 20 } } } },
    };
    const value = { list: [{}, { x: 5 }], all: {}, any: {}, pair: [7] };
    const filled = compileSchema(schema)(value);
    expect(filled).toEqual({
      valid: true,
      value: { page: { size: 20 }, list: [{ x: 1 }, { x: 5 }], all: { y: 2 }, any: {}, pair: [7, []] },
    });
    const theirs = structuredClone(value);
    ajv(Ajv).compile(schema)(theirs);
    expect(filled).toMatchObject({ value: theirs });
    expect(value).toEqual({ list: [{}, { x: 5 }], all: {}, any: {}, pair: [7] });
  });

  it("does not take what objects inherit for a parameter [002-validator-own]", () => {
    expect(problemsOf({ required: ["constructor"] }, {}).map(({ field }) => field)).toEqual(["constructor"]);
    expect(
      problemsOf({ properties: { a: { default: 1 } }, additionalProperties: false }, { toString: 1 }),
    ).toHaveLength(1);
  });

  it("understands what OpenAPI and draft 4 write", () => {
    expect(problemsOf({ type: "string", nullable: true }, null)).toEqual([]);
    expect(problemsOf({ minimum: 1, exclusiveMinimum: true }, 1)).toHaveLength(1);
    expect(problemsOf({ maximum: 1, exclusiveMaximum: true }, 1)).toHaveLength(1);
  });

  it("follows names and addresses within the schema, each tool for itself", () => {
    const schema: JsonSchema = {
      $id: "https://example.com/tool",
      properties: { a: { $ref: "inner#/properties/x" }, b: { $ref: "#named" }, c: { $ref: "#/x-parts/0/p~1q" } },
      $defs: {
        inner: { $id: "inner", properties: { x: { type: "string" } } },
        named: { $anchor: "named", type: "number" },
      },
      "x-parts": [{ "p/q": { type: "boolean" } }],
    };
    expect(problemsOf(schema, { a: "x", b: 1, c: true })).toEqual([]);
    expect(problemsOf(schema, { a: 1, b: "x", c: 1 }).map(({ field }) => field)).toEqual(["a", "b", "c"]);
  });

  it("names the keyword of a broken schema", () => {
    expect(refusalOf({ properties: { a: { type: "strin" } } })).toBe(
      'The schema of the parameters is invalid: parameters.properties.a.type must be a type of JSON Schema, but is "strin". Fix the schema in the tool\'s source.',
    );
    const broken = [
      { required: true },
      { properties: [] },
      { anyOf: {} },
      { items: null },
      { enum: "a" },
      { minLength: -1 },
      { minimum: "1" },
      { multipleOf: 0 },
      { $ref: 5 },
      { dependentRequired: { a: "b" } },
      { allOf: [null] },
    ];
    for (const schema of broken) {
      expect(refusalOf(schema)).toContain(`parameters.${Object.keys(schema)[0]}`);
    }
    expect(refusalOf({ $ref: "#/definitions/none" })).toContain("#/definitions/none");
    expect(refusalOf({ pattern: "(" })).toContain('must be a regular expression, but is "("');
  });

  it("refuses references in a circle, and lets recursion through members be", () => {
    expect(refusalOf({ $ref: "#" })).toContain("its references are circular");
    expect(
      refusalOf({
        $ref: "#/$defs/a",
        $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } },
      }),
    ).toContain("its references are circular");
    expect(problemsOf({ properties: { next: { $ref: "#" } }, required: ["v"] }, { v: 1, next: {} })).toHaveLength(1);
  });

  it("refuses references that double at each step", () => {
    expect(refusalOf(doubling(22))).toContain("more than 10,000 schemas");
    expect(refusalOf(doubling(10))).toBe("compiled");
  });

  it("refuses a schema past the limits", () => {
    let deep: JsonSchema = {};
    for (let level = 0; level < 100_000; level++) deep = { not: deep };
    expect(refusalOf(deep)).toContain("levels deep");
  });

  it("gives up on arguments that take too many steps", () => {
    const $ref = "#";
    const schema: JsonSchema = { allOf: [{ properties: { a: { $ref } } }, { properties: { a: { $ref } } }] };
    let value: object = {};
    for (let level = 0; level < 60; level++) value = { a: value };
    const checked = withinLimits(compileSchema(schema), { maxSteps: 200_000, mayBacktrack: false })(value);
    expect(checked).toMatchObject({ valid: false, problems: [{ expected: "arguments that can be checked in time" }] });
  });

  it.each<[string, JsonSchema, unknown]>([
    ["required names", { required: Array.from({ length: 9_000 }, (_, index) => `n${index}`) }, {}],
    ["enum values", { enum: [Array.from({ length: 9_000 }, () => 0)] }, Array.from({ length: 9_000 }, () => 0)],
    ["unique items", { uniqueItems: true }, Array.from({ length: 9_000 }, (_, index) => index)],
    ["long texts", { minLength: 5 }, "x".repeat(600_000)],
    ["patterns on long texts", { pattern: "^x*$" }, "x".repeat(100_000)],
    ["members", { minProperties: 2 }, Object.fromEntries(Array.from({ length: 72_000 }, (_, index) => [index, 0]))],
  ])("counts %s as the work they are", (_name, part, value) => {
    const twice = (schema: JsonSchema): JsonSchema => ({ allOf: [schema, schema] });
    const schema = twice(twice(twice(twice(twice({ $ref: "#/$defs/part" })))));
    const many = { allOf: Array.from({ length: 8 }, () => schema), $defs: { part } };
    expect(() => compileSchema(many)(value, { maxSteps: 200_000, mayBacktrack: false })).toThrow(TooCostly);
  });

  it("does not overflow the stack on a long chain of references", () => {
    const $defs: Record<string, JsonSchema> = { d3000: {} };
    for (let level = 0; level < 3_000; level++) $defs[`d${level}`] = { $ref: `#/$defs/d${level + 1}` };
    expect(() => problemsOf({ $ref: "#/$defs/d0", $defs }, {})).toThrow(TooCostly);
  });

  it("notes what it does not check", () => {
    const check = compileSchema({
      properties: { a: { pattern: "(?i)a" }, b: { $ref: "http://json-schema.org/draft-07/schema#" } },
    });
    expect(check({ a: "b", b: {} }).valid).toBe(true);
    expect(check.notes).toEqual([
      'The schema at "http://json-schema.org/draft-07/schema#" is not checked: any value is accepted there.',
      'The pattern "(?i)a" is not checked: it is not a regular expression of JavaScript.',
    ]);
  });

  it("runs a pattern that RE2 cannot run only if it may", () => {
    const check = compileSchema({ pattern: "^(?=.*x)(\\w+)-\\1$" });
    expect([check("ax-ax").valid, check("ax-bx").valid]).toEqual([true, false]);
    expect(() => check("ax-ax", { maxSteps: 1_000, mayBacktrack: false })).toThrow(TooCostly);
  });

  it("takes a name that a pattern may mean neither for a known nor for an unknown one", () => {
    const schema: JsonSchema = { patternProperties: { "(?i)a": { type: "string" } }, additionalProperties: false };
    expect(problemsOf(schema, { anything: 5 })).toEqual([]);
  });

  it("shows only the beginning of long lists", () => {
    const names = Array.from({ length: 500 }, (_, index) => `name${index}`);
    expect(problemsOf({ enum: names }, "x")[0]?.expected).toMatch(/^one of "name0", .* and 450 more$/);
  });
});
