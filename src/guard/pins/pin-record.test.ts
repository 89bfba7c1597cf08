import { describe, expect, it } from "vitest";
import { listed } from "../../../test/guard/test-pins.ts";
import { contentOfInstructions, contentOfTool, readRecord } from "./pin-record.ts";

const tool = contentOfTool(listed());

describe("what the state gives back of a pin", () => {
  it.each([
    ["accepted", { accepted: { content: tool } }],
    ["waiting", { waiting: contentOfInstructions("Be kind.") }],
    ["both", { accepted: { content: tool }, waiting: tool, between: tool }],
  ])("is a record where something is %s", (_what, value) => {
    expect(readRecord("a.b", value)).toBe(value);
  });

  it.each<[string, unknown]>([
    ["nothing at all", null],
    ["nothing that could be compared", { ensemble: "files", since: 5 }],
    ["an acceptance of nothing", { accepted: {} }],
    ["a text in place of content", { waiting: "Be kind." }],
    ["content without a hash", { waiting: { tool: listed() } }],
    ["content of no kind", { waiting: { hash: "00" } }],
    ["a tool without an id", { waiting: { hash: "00", tool: {} } }],
    ["something broken beside something sound", { accepted: { content: tool }, waiting: { hash: "00" } }],
    ["something broken in between", { accepted: { content: tool }, waiting: tool, between: { hash: "00" } }],
  ])("is no record where it has %s, and the error says what to do", (_what, value) => {
    expect(() => readRecord("a.b", value)).toThrow(
      expect.objectContaining({
        code: "STORE_FAILED",
        message: "The pin of a.b cannot be read. Remove pin:a.b from the state, which makes it new again.",
        details: expect.objectContaining({
          field: "a.b",
          fix: "Remove pin:a.b from the state, which makes it new again.",
        }),
      }),
    );
  });
});
