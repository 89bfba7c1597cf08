import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../tool/json-schema.ts";
import { decideStrict, type StrictCandidate } from "./convert-set.ts";

/** A tool with so many parameters, all of them optional. */
function tool(name: string, optional: number, possible = true): StrictCandidate {
  const names = Array.from({ length: optional }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((each): [string, JsonSchema] => [each, { type: "string" }]));
  return { name, possible, schema: { type: "object", properties, additionalProperties: false } };
}

describe("decideStrict", () => {
  it("gives strict mode to the best tools until the request holds no more", () => {
    const tools = Array.from({ length: 22 }, (_, index) => tool(`t${index}`, 0));
    const decisions = decideStrict(tools, { maxStrictTools: 20 });
    expect(decisions.filter(({ strict }) => strict).map(({ name }) => name)).toEqual(
      tools.slice(0, 20).map(({ name }) => name),
    );
    expect(decisions[20]).toEqual({
      name: "t20",
      strict: false,
      reason: "20 tools are strict already, which is the most",
    });
  });

  it("passes over a tool that is too large for what is left, and takes a smaller one after it", () => {
    expect(decideStrict([tool("a", 20), tool("b", 5), tool("c", 4)], { maxOptionalParameters: 24 })).toEqual([
      { name: "a", strict: true },
      { name: "b", strict: false, reason: "the strict tools would have 25 optional parameters, where 24 are taken" },
      { name: "c", strict: true },
    ]);
  });

  it("does not count a tool that cannot be strict", () => {
    expect(decideStrict([tool("a", 24, false), tool("b", 24)], { maxOptionalParameters: 24 })).toEqual([
      { name: "a", strict: false, reason: "its schema cannot be strict" },
      { name: "b", strict: true },
    ]);
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
    const reasonFor = (limits: object): string | undefined =>
      decideStrict([{ name: "t", possible: true, schema }], limits)[0]?.reason;
    expect([
      reasonFor({ maxProperties: 2 }),
      reasonFor({ maxEnumValues: 1 }),
      reasonFor({ maxCharacters: 17 }),
      reasonFor({ maxUnionParameters: 0 }),
      reasonFor({ maxDepth: 2 }),
      reasonFor({ maxProperties: 3, maxEnumValues: 2, maxCharacters: 18, maxUnionParameters: 1, maxDepth: 3 }),
    ]).toEqual([
      "the strict tools would have 3 properties, where 2 are taken",
      "the strict tools would have 2 listed values, where 1 are taken",
      "the strict tools would have 18 characters of names and listed values, where 17 are taken",
      "the strict tools would have 1 parameters of several types, where 0 are taken",
      "it has 3 levels, where 2 are taken",
      undefined,
    ]);
  });
});
