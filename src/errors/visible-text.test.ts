import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SHOWN_TEXT_SOURCE, shownText, visibleText } from "./visible-text.ts";

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

describe("shownText", () => {
  const onPage = new Function(`return ${SHOWN_TEXT_SOURCE}`)() as (text: string) => string;

  it.each([
    ["an override of the writing direction", "pay \u202E001\u202C", "pay ⟨U+202E⟩001⟨U+202C⟩"],
    ["a zero-width space", "a\u200Bb", "a⟨U+200B⟩b"],
    ["a joiner in a Latin word", "pay\u200Dment", "pay⟨U+200D⟩ment"],
    ["a tag character", "a\u{E0041}", "a⟨U+E0041⟩"],
    ["a variation selector that changes nothing", "1\uFE0F0", "1⟨U+FE0F⟩0"],
    ["a terminal's escape", "\u001B[8mx", "⟨U+001B⟩[8mx"],
    ["a carriage return", "a\rb", "a⟨U+000D⟩b"],
    ["a filler that is a letter", "a\u3164", "a⟨U+3164⟩"],
    ["half a character", "a\uD800b", "a⟨U+D800⟩b"],
  ])("names %s", (_what, given, shown) => {
    expect(shownText(given)).toBe(shown);
    expect(onPage(given)).toBe(shown);
  });

  it("leaves lines, emoji, and every script as it is written", () => {
    const text =
      "Ünïcode\n\t日本語, עברית, می\u200Cخواهم, क्\u200Dष, 👩\u200D💻, ⚠\uFE0F, 1\uFE0F\u20E3 and L\u00A0' are fine.";
    expect(shownText(text)).toBe(text);
    expect(onPage(text)).toBe(text);
  });

  it("is the same on pages without modules, whatever the text", () => {
    const odd = fc.constantFrom(
      "\u200D",
      "\uFE0F",
      "\u202E",
      "👩",
      "💻",
      "1",
      "\u20E3",
      "ک",
      "a",
      "\n",
      "\uDC00",
      "\u{E0041}",
    );
    const text = fc.string({ unit: fc.oneof(odd, fc.string({ unit: "binary", maxLength: 1 })) });
    fc.assert(
      fc.property(text, (given) => {
        expect(onPage(given)).toBe(shownText(given));
      }),
    );
  });
});
