import { describe, expect, it } from "vitest";
import { toCallResult } from "./call-result.ts";

describe("toCallResult", () => {
  it("gives an object as text and as data", () => {
    expect(toCallResult({ a: 1 }, undefined, "legacy")).toEqual({
      content: [{ type: "text", text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
  });

  it("gives more than a mebibyte once, as text, unless the tool says what it returns", () => {
    const large = { text: "x".repeat(1024 * 1024) };
    const content = [{ type: "text", text: JSON.stringify(large) }];
    expect(toCallResult(large, undefined, "modern")).toEqual({ content });
    const tool = { returns: { type: "object" } };
    expect(toCallResult(large, tool, "legacy")).toEqual({ content, structuredContent: large });
  });
});
