import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { StandardSchema } from "../infer.ts";
import { toParameters } from "./parameters.ts";

describe("toParameters", () => {
  it("passes JSON Schema as it is [003-canonical-superset]", () => {
    const schema = { type: "object", properties: {} };
    expect(toParameters(schema)).toEqual({ parameters: schema });
    expect(toParameters(schema).parameters).toBe(schema);
  });

  it.each<[string, StandardSchema]>([
    ["zod", z.object({ city: z.string(), days: z.number().optional() })],
    ["arktype", type({ city: "string", "days?": "number" })],
    ["valibot", toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()) }))],
  ])("converts a %s schema, and checks with it [001-invoker-standard-schema]", async (_vendor, schema) => {
    const { parameters, validate } = toParameters(schema);
    expect(parameters).toMatchObject({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" } },
      required: ["city"],
    });
    expect(await validate?.({ city: "Bonn" })).toMatchObject({ value: { city: "Bonn" } });
    expect((await validate?.({ city: 5 }))?.issues).toHaveLength(1);
  });

  it("describes what goes in and returns what comes out", async () => {
    const { parameters, validate } = toParameters(
      z.object({ n: z.string().transform(Number), k: z.number().default(3) }),
    );
    expect(parameters.properties?.["n"]).toEqual({ type: "string" });
    expect(parameters.required).toEqual(["n"]);
    expect(await validate?.({ n: "5" })).toEqual({ value: { n: 5, k: 3 } });
  });

  it("gives JSON Schema with nothing hidden in it", () => {
    expect("~standard" in toParameters(z.object({})).parameters).toBe(false);
  });

  it("reads a plain Valibot schema, and says what to write in place of one that is not an object's", () => {
    expect(toParameters(v.object({ a: v.string() })).parameters).toMatchObject({ required: ["a"] });
    expect(() => toParameters(v.string())).toThrow("Use v.object({ … }), with one entry per parameter.");
  });

  it.each(["zod", "arktype", "mylib"])("names the vendor %s where its version is too old", (vendor) => {
    const schema: StandardSchema = { "~standard": { version: 1, vendor, validate: (value) => ({ value }) } };
    expect(() => toParameters(schema)).toThrow(vendor);
  });

  it("passes on why a schema cannot be converted, and where", () => {
    const schema = z.object({ any: z.any(), at: z.array(z.object({ when: z.date().optional() })) });
    expect(() => toParameters(schema)).toThrow(/zod schema that has no JSON Schema at at\.items\.when: .*Date/);
  });

  it("describes the dates and bigints that Zod coerces as what JSON has for them", async () => {
    const { parameters, validate } = toParameters(
      z.object({
        from: z.coerce.date().describe("The first day."),
        to: z.coerce.date().optional(),
        n: z.coerce.bigint(),
      }),
    );
    expect(parameters).toMatchObject({
      properties: {
        from: { type: "string", format: "date-time", description: "The first day." },
        to: { type: "string", format: "date-time" },
        n: { type: "integer" },
      },
      required: ["from", "n"],
    });
    expect(await validate?.({ from: "2026-05-01T00:00:00Z", n: 5 })).toEqual({
      value: { from: new Date("2026-05-01T00:00:00Z"), n: 5n },
    });
  });
});
