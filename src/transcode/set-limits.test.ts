import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../tool/json-schema.ts";
import { whyNotStrict } from "./convert-set.ts";

/** The schema of a tool with so many parameters, all of them optional. */
function tool(optional: number): JsonSchema {
  const names = Array.from({ length: optional }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((each): [string, JsonSchema] => [each, { type: "string" }]));
  return { type: "object", properties, additionalProperties: false };
}

describe("whyNotStrict", () => {
  it("gives strict mode to the best tools until the request holds no more", () => {
    const tools = Array.from({ length: 22 }, () => tool(0));
    const full = "20 tools are strict already, which is the most";
    expect(whyNotStrict(tools, { maxStrictTools: 20 })).toEqual([...Array.from({ length: 20 }), full, full]);
  });

  it("passes over a tool that is too large for what is left, and takes a smaller one after it", () => {
    expect(whyNotStrict([tool(20), tool(5), tool(4)], { maxOptionalParameters: 24 })).toEqual([
      undefined,
      "the strict tools would have 25 optional parameters; at most 24 are accepted",
      undefined,
    ]);
  });

  it("does not count a tool that cannot be strict", () => {
    const reasons = whyNotStrict([undefined, tool(24)], { maxOptionalParameters: 24 });
    expect(reasons).toEqual(["its schema cannot be strict", undefined]);
  });

  it("counts properties, listed values, characters, unions and levels, those of definitions included", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { mode: { type: "string", enum: ["ab", "cd"] }, tree: { $ref: "#/$defs/Tree" } },
      required: ["mode", "tree"],
      $defs: {
        Tree: {
          type: "object",
          properties: { of: { anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] } },
          required: ["of"],
        },
      },
    };
    const reasonFor = (limits: object): string | undefined => whyNotStrict([schema], limits)[0];
    expect([
      reasonFor({ maxProperties: 2 }),
      reasonFor({ maxEnumValues: 1 }),
      reasonFor({ maxCharacters: 17 }),
      reasonFor({ maxUnionParameters: 0 }),
      reasonFor({ maxDepth: 2 }),
      reasonFor({ maxProperties: 3, maxEnumValues: 2, maxCharacters: 18, maxUnionParameters: 1, maxDepth: 3 }),
    ]).toEqual([
      "the strict tools would have 3 properties; at most 2 are accepted",
      "the strict tools would have 2 listed values; at most 1 are accepted",
      "the strict tools would have 18 characters of names and listed values; at most 17 are accepted",
      "the strict tools would have 1 parameters of several types; at most 0 are accepted",
      "it has 3 levels; at most 2 are accepted",
      undefined,
    ]);
  });
});
