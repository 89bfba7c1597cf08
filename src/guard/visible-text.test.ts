import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visibleText } from "./visible-text.ts";

describe("visibleText", () => {
  it.each([
    ["an override of the writing direction", "a\u202Eb", String.raw`a\u202eb`],
    ["a zero-width space", "a\u200Bb", String.raw`a\u200bb`],
    ["a tag character", "a\u{E0041}b", String.raw`a\udb40\udc41b`],
    ["a variation selector", "a\uFE01b", String.raw`a\ufe01b`],
    ["a terminal's escape", "\u001B[8mx", String.raw`\u001b[8mx`],
    ["a one-character escape", "\u009B8mx", String.raw`\u009b8mx`],
    ["a line break", "a\nb", String.raw`a\u000ab`],
    ["a line separator", "a\u2028b", String.raw`a\u2028b`],
    ["a filler that is a letter", "a\u3164b", String.raw`a\u3164b`],
    ["a blank pattern", "a\u2800b", String.raw`a\u2800b`],
    ["a blank that does not break", "a\u00A0b", String.raw`a\u00a0b`],
    ["a character for private use", "a\uE000b", String.raw`a\ue000b`],
    ["half a character", "a\uD800b", String.raw`a\ud800b`],
  ])("shows %s", (_what, given, shown) => {
    expect(visibleText(given)).toBe(shown);
  });

  it("leaves what everybody sees", () => {
    const text = 'Ünïcode, 日本語, עברית, 😀 and {"a": "b\\n"} stay.';
    expect(visibleText(text)).toBe(text);
  });

  it("does not change what JSON says", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const json = JSON.stringify(value);
        expect(JSON.parse(visibleText(json))).toEqual(JSON.parse(json));
      }),
    );
  });
});
