import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../json-schema.ts";
import { normaliseTool } from "../normalise/normalise-tool.ts";
import { measureSchema, refusalOf, refusedParameters } from "./schema-limits.ts";

function nested(levels: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let level = 0; level < levels; level++) schema = { properties: { a: schema } };
  return schema;
}

describe("measureSchema", () => {
  it("counts characters, values and depth", () => {
    expect(measureSchema({ type: "object", properties: { a: { enum: ["x", 1] } } })).toEqual({
      characters: 54,
      values: 7,
      depth: 4,
    });
  });

  it.each([
    ["100,000 levels", nested(100_000), "is nested more than 100 levels deep"],
    ["a million enum values", { enum: Array.from({ length: 1_000_000 }, String) }, "has more than 20,000 values"],
    ["20,000 small schemas", { anyOf: Array.from({ length: 20_000 }, () => ({})) }, "has more than 20,000 values"],
    ["20 MB of description", { description: "x".repeat(20_000_000) }, "has more than 1,000,000 characters"],
    ["a long name", { properties: { ["x".repeat(2_000_000)]: {} } }, "has more than 1,000,000 characters"],
  ])("says that %s are too much", (_name, schema, tooLarge) => {
    expect(measureSchema(schema).tooLarge).toBe(tooLarge);
  });

  it("ends on what contains itself", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["a"] = cyclic;
    expect(measureSchema(cyclic).tooLarge).toBe("is nested more than 100 levels deep");
  });
});

describe("a source's schema past the limits", () => {
  const from = { source: "mcp", namespace: "files" } as const;

  it("is replaced by one that says why, and the tool is kept", () => {
    const tool = normaliseTool({ name: "read", description: "Reads a file.", parameters: nested(1_000) }, from);
    expect(refusalOf(tool.parameters)).toBe("is nested more than 100 levels deep");
    expect(tool).toMatchObject({ id: "files.read", description: "Reads a file.", sourceMeta: {} });
  });

  it("is replaced also where it describes results", () => {
    const tool = normaliseTool({ name: "read", description: "Reads a file.", returns: nested(1_000) }, from);
    expect(tool.returns).toEqual(refusedParameters("is nested more than 100 levels deep"));
  });

  it("is no reason to refuse others", () => {
    expect(refusalOf(normaliseTool({ name: "read", parameters: { type: "object" } }, from).parameters)).toBeUndefined();
  });
});
