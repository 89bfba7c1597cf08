import { Validator as CfWorker } from "@cfworker/json-schema";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Problem } from "../../../execute/validator.port.ts";
import { validatorContract } from "../../../testing/validator.contract.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { ajv } from "../ajv.ts";
import { interpreter } from "./interpreter.ts";

function problemsOf(schema: JsonSchema, value: unknown): readonly Problem[] {
  const checked = interpreter().compile(schema)(value);
  return checked.valid ? [] : checked.problems;
}

function refusalOf(schema: unknown): string {
  try {
    interpreter().compile(schema as JsonSchema);
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

describe("interpreter", () => {
  for (const { name, run } of validatorContract(() => ({ adapter: interpreter() }))) it(name, run);

  it("says the same as Ajv of every keyword", () => {
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
    const sorted = (problems: readonly Problem[]): readonly string[] =>
      problems.map((each) => JSON.stringify(each)).sort();
    const checked = ajv().compile(schema)(value);
    expect(sorted(problemsOf(schema, value))).toEqual(sorted(checked.valid ? [] : checked.problems));
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
    const filled = interpreter().compile(schema)(value);
    expect(filled).toEqual({
      valid: true,
      value: { page: { size: 20 }, list: [{ x: 1 }, { x: 5 }], all: { y: 2 }, any: {}, pair: [7, []] },
    });
    expect(filled).toEqual(ajv().compile(schema)(value));
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
      'The schema of the parameters is broken: parameters.properties.a.type must be equal to one of the allowed values, but is "strin". Fix the schema in the tool\'s source.',
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
  });

  it("refuses references in a circle, and lets recursion through members be", () => {
    expect(refusalOf({ $ref: "#" })).toContain("in a circle");
    expect(
      refusalOf({
        $ref: "#/$defs/a",
        $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } },
      }),
    ).toContain("in a circle");
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
    expect(problemsOf(schema, value)[0]?.expected).toBe("arguments that can be checked in time");
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
    const checked = interpreter({ maxSteps: 200_000 }).compile(many)(value);
    expect(checked.valid ? "valid" : checked.problems[0]?.expected).toBe("arguments that can be checked in time");
  });

  it("does not overflow the stack on a long chain of references", () => {
    const $defs: Record<string, JsonSchema> = { d3000: {} };
    for (let level = 0; level < 3_000; level++) $defs[`d${level}`] = { $ref: `#/$defs/d${level + 1}` };
    expect(problemsOf({ $ref: "#/$defs/d0", $defs }, {})[0]?.expected).toBe("arguments that can be checked in time");
  });

  it("notes what it does not check", () => {
    const check = interpreter().compile({
      properties: { a: { pattern: "^(a+)+\\1$" }, b: { $ref: "http://json-schema.org/draft-07/schema#" } },
    });
    expect(check({ a: "b", b: {} }).valid).toBe(true);
    expect(check.notes).toEqual([
      'What is at "http://json-schema.org/draft-07/schema#" is not checked: any value is accepted there.',
      'The pattern "^(a+)+\\\\1$" is not checked: it cannot be decided in linear time.',
    ]);
  });

  it("takes a name that a pattern may mean neither for a known nor for an unknown one", () => {
    const schema: JsonSchema = { patternProperties: { "^(a+)+\\1$": { type: "string" } }, additionalProperties: false };
    expect(problemsOf(schema, { anything: 5 })).toEqual([]);
  });

  it("shows only the beginning of long lists", () => {
    const names = Array.from({ length: 500 }, (_, index) => `name${index}`);
    expect(problemsOf({ enum: names }, "x")[0]?.expected).toMatch(/^one of "name0", .* and 450 more$/);
  });

  it("agrees with Ajv and with another interpreter on sane schemas", () => {
    const programs = ajv();
    const seen = agreement(saneSchema(), (schema) => {
      const compiled = programs.compile(schema);
      return (value) => {
        try {
          return compiled(value).valid;
        } catch (error) {
          // Its generated code loses track of which properties were evaluated in some nested alternatives.
          if (error instanceof TypeError) return undefined;
          throw error;
        }
      };
    });
    // A test whose values were all refused would show little.
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(200);
  });

  it("agrees with another interpreter on what is left unevaluated, of which Ajv is not sure", () => {
    const seen = agreement(saneSchema({ unevaluated: true }));
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(200);
  });
});

/** Checks random values against random schemas with everybody who can, and counts how they fared. */
function agreement(
  schemas: fc.Arbitrary<JsonSchema>,
  third: (schema: JsonSchema) => (value: unknown) => boolean | undefined = () => () => undefined,
): { readonly accepted: number; readonly refused: number } {
  const counts = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(schemas, fc.array(instance, { minLength: 5, maxLength: 5 }), (schema, values) => {
      const check = interpreter().compile(schema);
      const other = new CfWorker(structuredClone(schema) as object, "2020-12");
      const another = third(schema);
      for (const value of values) {
        const { valid } = check(value);
        const told = JSON.stringify({ schema, value });
        expect(other.validate(value).valid, told).toBe(valid);
        expect(another(value) ?? valid, told).toBe(valid);
        counts[valid ? "accepted" : "refused"]++;
      }
    }),
    { numRuns: 400 },
  );
  return counts;
}

/** Values and schemas of a few names and small numbers, so that they meet. */
const name = fc.constantFrom("a", "b", "ab", "c");
const small = fc.integer({ min: 0, max: 3 });
const scalar = fc.oneof(
  fc.constantFrom("a", "b", "ab", "", "2024-01-01", "x@y.de"),
  small,
  fc.boolean(),
  fc.constant(null),
);
const { value: instance } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
function saneSchema({ unevaluated = false } = {}): fc.Arbitrary<JsonSchema> {
  const { schema } = fc.letrec<{ schema: JsonSchema; member: JsonSchema | boolean }>((tie) => {
    const schemas = fc.array(tie("member"), { minLength: 1, maxLength: 3 });
    const byName = fc.dictionary(name, tie("member"), { maxKeys: 3, noNullPrototype: true });
    const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      type: fc.oneof(fc.constantFrom("string", "number", "integer", "object", "array", "null", "boolean")),
      enum: fc.uniqueArray(instance, { minLength: 1, maxLength: 3, selector: (value) => JSON.stringify(value) }),
      const: instance.filter((value) => value !== undefined),
      minimum: small,
      maximum: small,
      exclusiveMinimum: small,
      exclusiveMaximum: small,
      multipleOf: fc.integer({ min: 1, max: 3 }),
      minLength: small,
      maxLength: small,
      pattern: fc.constantFrom("^a", "b$", "^[a-b]*$", "^.{2}$", "\\s", "a|^b"),
      format: fc.constantFrom("date", "uuid"),
      minItems: small,
      maxItems: small,
      uniqueItems: fc.boolean(),
      items: tie("member"),
      prefixItems: schemas,
      contains: tie("member"),
      minProperties: small,
      maxProperties: small,
      required: fc.uniqueArray(name, { maxLength: 2 }),
      properties: byName,
      patternProperties: fc.dictionary(fc.constantFrom("^a", "b$", "."), tie("member"), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      additionalProperties: tie("member"),
      propertyNames: tie("member"),
      dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      dependentSchemas: byName,
      allOf: schemas,
      anyOf: schemas,
      oneOf: schemas,
      not: tie("member"),
      ...conditional(tie("member"), tie("member"), tie("member")),
      ...(unevaluated ? { unevaluatedProperties: tie("member"), unevaluatedItems: tie("member") } : {}),
    };
    return {
      member: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.boolean(),
        tie("schema"),
        fc.constant({ $ref: "#/$defs/d" }),
      ),
      schema: fc
        .uniqueArray(fc.constantFrom(...Object.keys(keywords)), { maxLength: 4 })
        .chain(
          (chosen) =>
            fc.record(
              Object.fromEntries(chosen.map((key) => [key, keywords[key] ?? fc.constant(0)])),
            ) as fc.Arbitrary<JsonSchema>,
        )
        .map((made) => ({ ...made, $defs: { d: { type: ["string", "object"], minLength: 1 } } })),
    };
  });
  return schema;
}
