import { isDeepStrictEqual } from "node:util";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import * as fc from "fast-check";
import { toStrictJsonSchema } from "openai/lib/transform";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../src/tool/json-schema.ts";
import { convertSchema } from "../../src/transcode/convert-schema.ts";
import { featuresOf } from "../../src/transcode/features.ts";
import { repairArguments } from "../../src/transcode/repair-arguments.ts";
import { SCHEMA_TARGETS } from "../../src/transcode/targets.ts";
import { arbitraryPlainSchema, arbitrarySchema } from "./arbitrary-schema.ts";

const RUNS = { numRuns: 5_000 };
const TARGETS = Object.values(SCHEMA_TARGETS);
const { openaiStrict, anthropicStrict } = SCHEMA_TARGETS;
const either = fc.oneof(arbitrarySchema, arbitraryPlainSchema);

describe("convertSchema, for any schema", () => {
  it("gives an object for every target, always the same, and leaves the schema as it was", () => {
    fc.assert(
      fc.property(either, (schema) => {
        const before = structuredClone(schema);
        for (const target of TARGETS) {
          const converted = convertSchema(schema, target);
          expect(converted.schema.type).toBe("object");
          expect(converted.possible).toBe(!converted.losses.some(({ action }) => action === "refused"));
          expect(convertSchema(structuredClone(schema), target)).toEqual(converted);
        }
        expect(schema).toEqual(before);
      }),
      RUNS,
    );
  });

  it("never refuses for a target that is not strict", () => {
    fc.assert(
      fc.property(either, (schema) => {
        for (const target of TARGETS)
          if (target.closedObjects !== true) expect(convertSchema(schema, target).possible).toBe(true);
      }),
      RUNS,
    );
  });

  it("changes nothing in what it wrote itself", () => {
    fc.assert(
      fc.property(either, (schema) => {
        for (const target of TARGETS) {
          const { schema: once, possible } = convertSchema(schema, target);
          if (possible) expect(convertSchema(once, target).schema).toEqual(once);
        }
      }),
      RUNS,
    );
  });

  it("puts every change on record, and each once", () => {
    fc.assert(
      fc.property(either, (schema) => {
        for (const target of TARGETS) {
          const { schema: converted, losses } = convertSchema(schema, target);
          if (losses.length === 0) expect(converted).toEqual(schema);
          const keys = losses.map(({ path, keyword, message }) => JSON.stringify([path, keyword, message]));
          expect(new Set(keys).size).toBe(keys.length);
        }
      }),
      RUNS,
    );
  });

  it("uses no feature that the target lacks", () => {
    const structural = new Set(["booleanSchemas", "optionalProperties", "additionalProperties", "unknownKeywords"]);
    fc.assert(
      fc.property(either, (schema) => {
        for (const target of TARGETS) {
          const { schema: converted, possible } = convertSchema(schema, target);
          if (!possible) continue;
          const lacking = [...featuresOf(converted)].filter(
            (feature) => !target.features.has(feature) && !structural.has(feature),
          );
          expect(lacking, target.name).toEqual([]);
        }
      }),
      RUNS,
    );
  });
});

describe("convertSchema, for strict targets", () => {
  it("writes for OpenAI what the official SDK leaves as it is", () => {
    fc.assert(
      fc.property(either, (schema) => {
        const { schema: strict, possible } = convertSchema(schema, openaiStrict);
        if (possible) expect(toStrictJsonSchema(strict as never)).toEqual(strict);
      }),
      RUNS,
    );
  });

  it("writes for Anthropic what the official SDK leaves as it is, without recursion", () => {
    fc.assert(
      fc.property(either, (schema) => {
        const { schema: strict, possible } = convertSchema(schema, anthropicStrict);
        if (!possible) return;
        expect(transformJSONSchema(strict as never)).toEqual(strict);
        expect(featuresOf(strict)).not.toContain("recursion");
        expect(featuresOf(strict)).not.toContain("rootCombinators");
      }),
      RUNS,
    );
  });
});

describe("repairArguments, for any schema and arguments", () => {
  const args = fc.dictionary(
    fc.constantFrom("a", "b", "c", "name", "kind", "q", "input", "page"),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  );

  it("throws for none, changes neither, and has nothing left to do the second time", () => {
    fc.assert(
      fc.property(either, args, (schema, given) => {
        const before = structuredClone({ schema, given });
        const { arguments: repaired } = repairArguments(given, schema);
        expect(repairArguments(repaired, schema).arguments).toEqual(repaired);
        expect(isDeepStrictEqual({ schema, given }, before)).toBe(true);
      }),
      RUNS,
    );
  });

  it("records a repair wherever it changed something", () => {
    fc.assert(
      fc.property(either, args, (schema: JsonSchema, given) => {
        const { arguments: repaired, repairs } = repairArguments(given, schema);
        expect(repairs.length > 0).toBe(!isDeepStrictEqual({ ...repaired }, { ...given }));
      }),
      RUNS,
    );
  });
});
