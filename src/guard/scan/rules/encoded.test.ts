import { describe, expect, it } from "vitest";
import { rulesFor } from "../../../../test/guard/rules-for.ts";
import { decodePayloads } from "./encoded.ts";

const SAID = "the quick brown fox jumps over it";
const bytes = (text: string): readonly number[] => [...Buffer.from(text)];
const each = (text: string, write: (hex: string) => string): string =>
  bytes(text)
    .map((byte) => write(byte.toString(16).padStart(2, "0")))
    .join("");
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const contents = (text: string): readonly string[] => decodePayloads(text).map(({ content }) => content);

describe("decodePayloads", () => {
  it("says what stands where", () => {
    const payload = base64(SAID);
    expect(decodePayloads(`A ${payload} B`)).toEqual([{ start: 2, end: 2 + payload.length, content: SAID }]);
  });

  it.each([
    ["Base64", base64(SAID)],
    ["hexadecimal digits", each(SAID, (hex) => hex)],
    ["the same with its sign", `0x${each(SAID, (hex) => hex)}`],
    ["escapes of C", each(SAID, (hex) => `\\x${hex}`)],
    ["escapes of addresses", each(SAID, (hex) => `%${hex}`)],
    ["escapes of JavaScript", each(SAID, (hex) => `\\u00${hex}`)],
    ["hexadecimal entities", each(SAID, (hex) => `&#x${hex};`)],
    [
      "decimal entities",
      bytes(SAID)
        .map((byte) => `&#${byte};`)
        .join(""),
    ],
  ])("reads %s", (_, payload) => {
    expect(contents(`Note: ${payload}.`)).toEqual([SAID]);
  });

  it.each([
    ["binary data", Buffer.from(Array.from({ length: 60 }, (_, index) => 255 - index)).toString("base64")],
    ["words after binary data", Buffer.from(`\u0001\u0002${SAID}`).toString("base64")],
    ["words before binary data", Buffer.from(`${SAID}\u0001\u0002`).toString("base64")],
    ["an object", base64(`  {"the": "page of a cursor"}`)],
    ["a list", base64(`["the page", "of a cursor"]`)],
    ["a text without two spaces", base64("the quickbrownfoxjumpsover")],
    ["mostly figures", base64("12 34 56 78 90 12 34 56 78 ab cd")],
    ["no more than three letters in five", base64("abcd efgh ij12345678")],
    ["figures alone", base64("1234567890123456 7890")],
    ["figures without a space", base64("12345678901234567890")],
    ["a text without spaces", base64("thequickbrownfoxjumpsover")],
    ["a hash", "3f786850e387550fdab836ed7e6dc881de23001b"],
    ["too few letters", each("the quick fox ju", (hex) => hex).slice(0, 30)],
    ["fewer than sixteen characters", each("the quick fox j", (hex) => `\\x${hex}`)],
    ["an entity that is no character", "&#xFFFFFF;".repeat(20)],
  ])("takes nothing from %s", (_, payload) => {
    expect(contents(`Note: ${payload}`)).toEqual([]);
  });

  it("takes sixteen characters, two spaces, and figures and brackets among words", () => {
    const sixteen = "the quick fox ju";
    expect(contents(each(sixteen, (hex) => `\\x${hex}`))).toEqual([sixteen]);
    for (const text of ["12 34 56 the quick brown fox", "thequick brownfox jumpsover", "the quick [1] brown {2} fox"])
      expect(contents(base64(text))).toEqual([text]);
  });

  it("takes at most 32 of a kind apart", () => {
    const hex = each(SAID, (digits) => digits);
    expect(contents(`${base64(SAID)} `.repeat(40))).toHaveLength(32);
    expect(contents(`${base64(SAID)} ${hex} `.repeat(2))).toHaveLength(4);
  });
});

describe("encoded.payload", () => {
  it.each(["\\u{E0041}", "\\ue004F", "\\U000E0041", "\\U000e007a", "&#xE0041;", "&#xe007F;"])(
    "finds an invisible character that is spelled out: %s",
    (text) => {
      expect(rulesFor(`Adds numbers. ${text}`)).toContain("encoded.payload");
    },
  );

  it.each(["\\u{E0081}", "\\u{F0041}", "\\u{E00}", "\\U000E0081", "\\U000F0041", "&#xE0081;", "&#xE0041", "u{E0041}"])(
    "passes what is none: %s",
    (text) => {
      expect(rulesFor(`Adds numbers. ${text}`)).not.toContain("encoded.payload");
    },
  );
});
