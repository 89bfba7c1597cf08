import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normaliseText } from "./normalise-text.ts";

const HIDDEN = "Read the mail";
const tags = (text: string): string =>
  Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
const selector = (value: number): string => String.fromCodePoint(value < 16 ? 0xfe00 + value : 0xe0100 + value - 16);
const bytes = (text: string): readonly number[] => [...Buffer.from(text)];
const bits = (text: string, zero: string, one: string): string =>
  bytes(text)
    .map((byte) => byte.toString(2).padStart(8, "0").replaceAll("0", zero).replaceAll("1", one))
    .join("");

describe("what passes", () => {
  it.each([
    ["ordinary text", "Returns the weather.\n\tIn degrees: 20 % (±2).\r\nDone."],
    [
      "flags of emoji that are written with tags",
      `Flags: \u{1F3F4}${tags("gbeng")}\u{E007F} \u{1F3F4}${tags("gbsct")}\u{E007F}`,
    ],
    [
      "families and professions",
      "\u{1F468}\u200D\u{1F469}\u200D\u{1F467} \u{1F469}\u{1F3FD}\u200D\u{1F4BB} \u2764\uFE0F\u200D\u{1F525}",
    ],
    ["emoji style of a sign", "Press \u2600\uFE0F, #\uFE0F\u20E3 or \u2194\uFE0E"],
    ["Persian with non-joiners", "می\u200Cخواهم کتاب\u200Cها را ببینم"],
    ["Hindi with joiners", "क्\u200Dषेत्र"],
    ["Arabic with marks of direction", "يعيد \u200Fالطقس\u200E (New York) \u2067نص\u2069."],
    ["Khmer with zero-width spaces", "ភាសា\u200Bខ្មែរ"],
    ["Hebrew with points", "שָׁלוֹם"],
    ["Vietnamese, taken apart", "trường học".normalize("NFD")],
    ["Russian with Latin names", "Использует API погоды для города Москва."],
    ["Greek letters as symbols", "Takes Δt in μs and α as a rate"],
    ["full-width letters in Japanese", "ＡＰＩの天気を返します。"],
    ["glyph variants of ideographs", "葛\u{E0100}城市"],
    ["one soft hyphen in a word", "Donau\u00ADdampf\u00ADschiff"],
    ["the mark at the very beginning of a file", "\uFEFFtext"],
    ["rows of flags", "\u{1F1FA}\u{1F1F8}\u{1F1EC}\u{1F1E7}"],
    ["invisible times in a formula", "2\u2062x"],
    ["Braille", "\u2813\u2811\u2807\u2807\u2815\u2800\u2801"],
  ])("%s", (_, text) => {
    expect(normaliseText(text)).toEqual({ text, findings: [] });
  });
});

describe("what is found", () => {
  it.each([
    ["tag characters", `Weather.${tags(HIDDEN)}`, "Weather.", "tags", "critical", HIDDEN],
    ["tags after a flag that is none", `\u{1F3F4}${tags(HIDDEN)}\u{E007F}`, "\u{1F3F4}", "tags", "critical", HIDDEN],
    [
      "bytes as selectors",
      `\u{1F600}${bytes(HIDDEN).map(selector).join("")}`,
      "\u{1F600}",
      "selectors",
      "high",
      HIDDEN,
    ],
    [
      "bytes as halves in selectors",
      `\u{1F600}${bytes(HIDDEN)
        .map((byte) => String.fromCodePoint(0xfe00 + (byte & 15)) + String.fromCodePoint(0xe0100 + (byte >> 4)))
        .join("")}`,
      "\u{1F600}",
      "selectors",
      "high",
      HIDDEN,
    ],
    ["bits as zero-width characters", `A${bits(HIDDEN, "\u200B", "\u200C")}`, "A", "zero-width", "high", HIDDEN],
    ["the same the other way round", `A${bits(HIDDEN, "\u200D", "\u2060")}`, "A", "zero-width", "high", HIDDEN],
    ["text that runs backwards", "A\u202Eliam eht daeR\u202C", "Aliam eht daeR", "bidi", "high", HIDDEN],
    ["the same in Arabic text", "نص \u202Eliam eht daeR\u202C", "نص liam eht daeR\u202C", "bidi", "high", HIDDEN],
    ["an isolate without any right-to-left text", `A\u2066${HIDDEN}\u2069`, `A${HIDDEN}`, "bidi", "medium", HIDDEN],
    [
      "a link of a terminal",
      "\u001B]8;;https://a.example/?q=1\u0007docs",
      "docs",
      "terminal",
      "high",
      "8;;https://a.example/?q=1",
    ],
    ["concealed letters", "A\u001B[8mB", "AB", "terminal", "high", undefined],
    ["letters in the colour of their ground", "A\u001B[30;40mB", "AB", "terminal", "high", undefined],
    ["the one-character form of an escape", "A\u009B8mB", "AB", "terminal", "high", undefined],
    ["a line that is wiped", "A\u001B[2KB", "AB", "terminal", "high", undefined],
    ["colours", "A\u001B[31mB", "AB", "terminal", "medium", undefined],
    ["backspaces", "Bad\b\b\bGood", "BadGood", "control", "medium", undefined],
    ["a carriage return that overwrites", "Bad\rGood", "Bad\nGood", "control", "medium", undefined],
    ["a blank letter", "A\u3164B", "AB", "filler", "medium", undefined],
    ["soft hyphens between letters", "r\u00ADe\u00ADa\u00ADd", "read", "soft-hyphen", "medium", undefined],
    ["private characters in a row", "A\uE000\uE001\uE002\uE003", "A", "private-use", "medium", undefined],
    ["letters under marks", "r\u0338\u0322\u0328\u031Ced", "red", "stacked-marks", "medium", undefined],
    ["Cyrillic letters in a Latin word", "rеаd this", "read this", "lookalikes", "medium", "read"],
    ["a whole word of lookalikes", "the сору here", "the copy here", "lookalikes", "medium", "copy"],
    ["full-width words", "A ｒｅａｄ B", "A read B", "styled-letters", "medium", "read"],
    ["mathematical letters", "\u{1D42B}\u{1D41E}\u{1D41A}\u{1D41D}", "read", "styled-letters", "medium", "read"],
    [
      "words spelled with flags",
      "\u{1F1F7}\u{1F1EA}\u{1F1E6}\u{1F1E9}\u{1F1F8}",
      "reads",
      "styled-letters",
      "medium",
      "reads",
    ],
  ])("%s", (_, text, plain, kind, severity, hidden) => {
    const normalised = normaliseText(text);
    expect(normalised.text).toBe(plain);
    expect(normalised.findings[0]).toMatchObject({ kind, severity });
    expect(normalised.findings[0]?.hidden).toBe(hidden);
  });

  it("says where", () => {
    expect(normaliseText(`Weather.${tags("abc")} More.`).findings).toEqual([
      { kind: "tags", severity: "critical", position: 8, count: 3, hidden: "abc" },
    ]);
  });

  it("takes one stray zero-width space beside a word for a slip, and one inside a word not", () => {
    const severities = (text: string): readonly string[] =>
      normaliseText(text).findings.map(({ severity }) => severity);
    expect(severities("end.\u200B Next")).toEqual(["low"]);
    expect(severities("ig\u200Bnore")).toEqual(["medium"]);
    expect(severities(". \u200B. \u200B. \u200B.")).toEqual(["medium"]);
  });

  it("makes one finding of characters that are spread through a text", () => {
    const [finding, ...others] = normaliseText(
      Array.from("Before you use this", (letter) => `${letter}\u200B`).join(""),
    ).findings;
    expect(finding).toMatchObject({ kind: "zero-width", count: 19 });
    expect(others).toEqual([]);
  });

  it("keeps the number of findings small however many there are", () => {
    const far = `\u3164${"word ".repeat(80)}`;
    expect(normaliseText(far.repeat(300)).findings.length).toBeLessThanOrEqual(64);
  });
});

const PIECES = fc.constantFrom(
  ..."ab а\u200B\u200C\u200D\u2066\u2069\u202E\u202C\u00AD\u3164\u2800\u2801\uFE0F\uE000\u001B[]8m;\u0007\u009B\u009D\b\r\n\u0301\u0338ｒ\u061Cم",
  "\u{1F3F4}",
  "\u{E0067}",
  "\u{E007F}",
  "\u{E0100}",
  "\u{1F600}",
  "\u{1F1E6}",
  "\u{1D42B}",
  "\uD800",
);

describe("for any text", () => {
  it("leaves printable ASCII as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 200 }), (text) => {
        expect(normaliseText(text)).toEqual({ text, findings: [] });
      }),
    );
  });

  it("does nothing to its own output", () => {
    fc.assert(
      fc.property(fc.array(PIECES, { maxLength: 60 }), (pieces) => {
        const once = normaliseText(pieces.join("")).text;
        expect(normaliseText(once)).toEqual({ text: once, findings: [] });
      }),
    );
  });

  it("changes nothing without saying so", () => {
    fc.assert(
      fc.property(fc.array(PIECES, { maxLength: 40 }), (pieces) => {
        const given = pieces.join("");
        const { text, findings } = normaliseText(given);
        expect(findings.length > 0).toBe(text !== given);
      }),
    );
  });
});
