import { Validator as CfWorker } from "@cfworker/json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { compileSchema } from "./compile-schema.ts";

describe("compileSchema and others", () => {
  it("agree with Ajv and with another interpreter on sane schemas", () => {
    const programs = addFormats.default(new Ajv2020({ ownProperties: true, strict: false }));
    const seen = agreement(saneSchema(), (schema) => {
      const compiled = programs.compile(schema);
      return (value) => {
        try {
          return compiled(value);
        } catch (error) {
          // Its generated code loses track of which properties were evaluated in some nested alternatives.
          if (error instanceof TypeError || error instanceof ReferenceError) return undefined;
          throw error;
        }
      };
    });
    // A test whose values were all refused would show little.
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(200);
  });

  it("agree with another interpreter on what is left unevaluated, of which Ajv is not sure", () => {
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
      const check = compileSchema(schema);
      const other = new CfWorker(structuredClone(schema) as object, "2020-12");
      const another = third(schema);
      for (const value of values) {
        const { valid } = check(value);
        const told = JSON.stringify({ schema, value });
        expect(other.validate(value).valid, told).toBe(valid);
        // Ajv skips `contains` next to `prefixItems` if a list has fewer entries than `prefixItems`.
        const isUnsure = told.includes('"contains":') && told.includes('"prefixItems":');
        if (!isUnsure) expect(another(value) ?? valid, told).toBe(valid);
        counts[valid ? "accepted" : "refused"]++;
      }
    }),
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
      ...Object.fromEntries(["if", "then", "else"].map((keyword) => [keyword, tie("member")])),
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
