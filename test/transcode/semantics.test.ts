import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../src/tool/json-schema.ts";
import { convertSchema, type SchemaTarget } from "../../src/transcode/convert-schema.ts";
import type { Loss } from "../../src/transcode/dialect.port.ts";
import { repairArguments } from "../../src/transcode/repair-arguments.ts";
import { repeats, SEED } from "../kit/effort.ts";
import { arbitraryInstance } from "./arbitrary-instance.ts";
import { arbitraryPlainSchema } from "./arbitrary-schema.ts";
import { HARD_SCHEMAS } from "./hard-schemas.ts";
import { SCHEMA_TARGETS } from "./targets.ts";

type Arguments = Record<string, unknown>;
const GENERATED = repeats(120, 2_000);
const INSTANCES = 20;

const TARGETS: readonly (readonly [string, SchemaTarget])[] = [
  ["OpenAI strict", SCHEMA_TARGETS.openaiStrict],
  ["Anthropic strict", SCHEMA_TARGETS.anthropicStrict],
  ["Gemini parameters", SCHEMA_TARGETS.geminiParameters],
];

/** A schema as the judge sees it: older drafts by what they say, the rest as 2020-12. */
function judge(schema: JsonSchema): (value: unknown) => boolean {
  const isOlder = /draft-0[467]/.test(String(schema["$schema"]));
  const options = { strict: false, ownProperties: true, logger: false, validateSchema: false } as const;
  const ajv = isOlder ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  const { $schema: _dialect, ...rest } = spelledFor2020(schema);
  return ajv.compile(rest);
}

/** The one spelling of draft 4 among the schemas that no newer judge reads. */
function spelledFor2020(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || !("exclusiveMinimum" in value)) return value;
    if (value.exclusiveMinimum !== true || !("minimum" in value)) return value;
    const { minimum, ...rest } = value;
    return { ...rest, exclusiveMinimum: minimum };
  }) as JsonSchema;
}

/** Losses that let no value through which the original refuses. */
function keepsOut({ action, keyword }: Loss): boolean {
  return action === "resolved" || (action === "dropped" && /^(additionalProperties|\$schema|false)$/.test(keyword));
}

function instancesOf(schema: JsonSchema): readonly Arguments[] {
  const isValid = judge(schema);
  const found = fc.sample(arbitraryInstance(schema), { numRuns: INSTANCES, seed: SEED }) as Arguments[];
  return found.filter(isValid);
}

const generated = fc.sample(arbitraryPlainSchema, { numRuns: GENERATED, seed: SEED });
const schemas: readonly (readonly [string, JsonSchema])[] = [
  ...Object.entries(HARD_SCHEMAS),
  ...generated.map((schema, index) => [`generated ${index}`, schema] as const),
];

describe.each(TARGETS)("arguments for %s", (_name, target) => {
  it("are valid for the original after repair, for each schema of which nothing was lost", () => {
    let [checked, instances] = [0, 0];
    for (const [name, schema] of schemas) {
      const { schema: converted, losses, possible } = convertSchema(schema, target);
      expect(possible, name).toBe(true);
      if (!losses.every(keepsOut)) continue;
      checked += 1;
      const isValid = judge(schema);
      for (const instance of instancesOf(converted)) {
        instances += 1;
        const { arguments: repaired } = repairArguments(instance, schema);
        expect(isValid(repaired), `${name}: ${JSON.stringify({ schema, converted, instance, repaired })}`).toBe(true);
      }
    }
    expect(checked).toBeGreaterThan(GENERATED / 5);
    expect(instances).toBeGreaterThan(checked * 5);
  });

  it("are still refused where they break the original in a way that has no one repair", () => {
    let broken = 0;
    for (const [name, schema] of schemas) {
      const isValid = judge(schema);
      for (const instance of instancesOf(convertSchema(schema, target).schema)) {
        const { arguments: repaired } = repairArguments(instance, schema);
        for (const wrong of violations(repaired, schema)) {
          if (isValid(wrong)) continue;
          broken += 1;
          const again = repairArguments(wrong, schema).arguments;
          expect(isValid(again), `${name}: ${JSON.stringify({ schema, wrong, again })}`).toBe(false);
        }
      }
    }
    expect(broken).toBeGreaterThan(GENERATED / 5);
  });
});

/** Arguments with a required one taken away, or with an object where a simple value belongs. */
function violations(args: Arguments, { properties = {}, required = [] }: JsonSchema): readonly Arguments[] {
  const missing = required.filter((name) => Object.hasOwn(args, name)).map((name) => omit(args, name));
  const simple = Object.entries(properties).filter(
    ([name, property]) =>
      Object.hasOwn(args, name) && /"type":"(string|integer|number|boolean)"\}?$/.test(JSON.stringify(property)),
  );
  return [...missing, ...simple.map(([name]) => ({ ...args, [name]: { unexpected: [true] } }))];
}

function omit(args: Arguments, name: string): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([key]) => key !== name));
}
