import { assert, constantFrom, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonc } from "./jsonc.ts";

const value = (text: string): unknown => parseJsonc(text, "mcp.json").value;

describe("JSON as editors keep it", () => {
  it("reads all that JSON can say as JSON.parse does", () => {
    assert(
      property(jsonValue(), constantFrom(undefined, 2, "\t"), (given, indent) => {
        expect(value(JSON.stringify(given, undefined, indent))).toEqual(JSON.parse(JSON.stringify(given)));
      }),
    );
  });

  it("may have comments, trailing commas and a byte order mark", () => {
    const text = `\uFEFF// servers
{
  /* of the team */ "a": [1, 2, /* three */ ], // "b": 2
  "url": "http://host//path", // not a comment inside a text
}
`;
    expect(value(text)).toEqual({ a: [1, 2], url: "http://host//path" });
  });

  it.each([
    ["", "mcp.json:1:1 expected a value"],
    ["{", "mcp.json:1:2 expected a key in double quotes, or }"],
    ['{\n  "a" 1}', "mcp.json:2:7 expected : after the key"],
    ['{"a": 1 "b": 2}', "mcp.json:1:9 expected , or }"],
    ["[1 2]", "mcp.json:1:4 expected , or ]"],
    ['{"a": undefined}', "mcp.json:1:7 expected a value"],
    ["{} {}", "mcp.json:1:4 expected the end of the file"],
    ['"\\x"', "mcp.json:1:5 expected a text with valid escapes"],
    ["{,}", "mcp.json:1:2 expected a key in double quotes, or }"],
    ["[".repeat(1000), "mcp.json:1:202 expected less than 200 levels of nesting"],
  ])("that is broken is told with its place: %j", (text, message) => {
    expect(() => value(text)).toThrow(`${message}. Fix the JSON there.`);
  });

  it("knows where each member's value stands", () => {
    const text = '{ "a": 1, /* x */ "b": { "c": [] } }';
    const { members } = parseJsonc(text, "x");
    const { start = 0, end = 0, members: inner } = members?.get("b") ?? {};
    expect(text.slice(start, end)).toBe('{ "c": [] }');
    expect(inner?.get("c")).toMatchObject({ start: 30, end: 32, value: [] });
  });

  it("cannot change the prototype of anything", () => {
    const read = value('{"__proto__": {"polluted": true}}') as Record<string, unknown>;
    expect(Object.keys(read)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });
});
