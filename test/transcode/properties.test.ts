import { isDeepStrictEqual } from "node:util";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import * as fc from "fast-check";
import { toStrictJsonSchema } from "openai/lib/transform";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../src/tool/json-schema.ts";
import { convertSchema, type SchemaTarget } from "../../src/transcode/convert-schema.ts";
import { featuresOf } from "./features-of.ts";
import { repairArguments } from "../../src/transcode/repair-arguments.ts";
import { arbitraryPlainSchema, arbitrarySchema } from "./arbitrary-schema.ts";
import { SCHEMA_TARGETS } from "./targets.ts";

const { openaiStrict, anthropicStrict } = SCHEMA_TARGETS;
const TARGETS: readonly SchemaTarget[] = Object.values(SCHEMA_TARGETS);

const schemas = fc.oneof(arbitrarySchema, arbitraryPlainSchema);

function forAll(claim: (schema: JsonSchema, target: SchemaTarget) => void, targets = TARGETS): void {
  fc.assert(
    fc.property(schemas, (schema) => {
      for (const target of targets) claim(schema, target);
    }),
  );
}

describe("convertSchema, for any schema", () => {
  it("gives an object, always the same one, and leaves the schema as it was", () => {
    forAll((schema, target) => {
      const before = JSON.stringify(schema);
      const converted = convertSchema(schema, target);
      expect(converted.schema.type).toBe("object");
      expect(convertSchema(structuredClone(schema), target)).toEqual(converted);
      expect(JSON.stringify(schema)).toBe(before);
    });
  });

  it("says that a schema is impossible where it refuses something, and refuses nothing where the target is not strict", () => {
    forAll((schema, target) => {
      const { possible, losses } = convertSchema(schema, target);
      const refused = losses.filter(({ action }) => action === "refused");
      expect(possible).toBe(refused.length === 0);
      if (target.closedObjects !== true) expect(refused).toEqual([]);
    });
  });

  it("changes nothing in what it wrote itself", () => {
    forAll((schema, target) => {
      const { schema: once, possible } = convertSchema(schema, target);
      if (possible) expect(convertSchema(once, target).schema).toEqual(once);
    });
  });

  it("puts every change on record, and each once", () => {
    forAll((schema, target) => {
      const { schema: converted, losses } = convertSchema(schema, target);
      if (losses.length === 0) expect(converted).toEqual(schema);
      const keys = losses.map(({ path, keyword, message }) => JSON.stringify([path, keyword, message]));
      expect(new Set(keys).size).toBe(keys.length);
    });
  });

  it("uses no feature that the target lacks", () => {
    // How a schema is open or closed, and what is not of JSON Schema, is each target's own matter.
    const structural = new Set(["booleanSchemas", "optionalProperties", "additionalProperties", "unknownKeywords"]);
    forAll((schema, target) => {
      const { schema: converted, possible } = convertSchema(schema, target);
      const lacking = [...featuresOf(converted)].filter(
        (feature) => !target.features.has(feature) && !structural.has(feature),
      );
      if (possible) expect(lacking, JSON.stringify(schema)).toEqual([]);
    });
  });
});

describe("convertSchema, for strict targets", () => {
  it("writes for OpenAI what the official SDK leaves as it is", () => {
    forAll(
      (schema, target) => {
        const { schema: strict, possible } = convertSchema(schema, target);
        if (possible) expect(toStrictJsonSchema(strict as never)).toEqual(strict);
      },
      [openaiStrict],
    );
  });

  it("writes for Anthropic what the official SDK leaves as it is, with no recursion and no combinator at the root", () => {
    forAll(
      (schema, target) => {
        const { schema: strict, possible } = convertSchema(schema, target);
        // The SDK loses definitions and properties of this name.
        if (!possible || JSON.stringify(strict).includes("__proto__")) return;
        expect(transformJSONSchema(strict as never)).toEqual(strict);
        const features = featuresOf(strict);
        expect([features.has("recursion"), features.has("rootCombinators")]).toEqual([false, false]);
      },
      [anthropicStrict],
    );
  });
});

describe("repairArguments, for any schema and any arguments", () => {
  const names = fc.constantFrom("a", "b", "c", "name", "kind", "q", "input", "page", "_top");
  const args = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4, noNullPrototype: true });

  it("changes neither, records a repair where it changed something, and has nothing left to do the second time", () => {
    fc.assert(
      fc.property(schemas, args, (schema, given) => {
        const before = JSON.stringify([schema, given]);
        const { arguments: repaired, repairs } = repairArguments(given, schema);
        expect(repairs.length > 0).toBe(!isDeepStrictEqual(repaired, given));
        expect(repairArguments(repaired, schema).arguments).toEqual(repaired);
        expect(JSON.stringify([schema, given])).toBe(before);
      }),
    );
  });
});
