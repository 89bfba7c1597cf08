import { describe, expect, it } from "vitest";
import { normaliseText } from "./normalise-text.ts";

const found = (text: string) =>
  normaliseText(text).findings.map(({ kind, severity, hidden }) => [kind, severity, hidden] as const);

describe("how bad it is", () => {
  it.each([
    ["three letters in tags", "a\u{E0061}\u{E0062}\u{E0063}", "tags", "critical", "abc"],
    ["two letters in tags", "a\u{E0061}\u{E0062}", "tags", "high", "ab"],
    ["a tag that stands for nothing", "a\u{E0001}", "tags", "high", undefined],
    ["one selector", "a\uFE00", "selectors", "low", undefined],
    ["one selector of the second row", "a\u{E0100}", "selectors", "medium", undefined],
    ["two selectors", "a\uFE00\uFE01", "selectors", "high", undefined],
    ["eight zero-width characters", `a${"\u200B".repeat(8)}`, "zero-width", "high", undefined],
    ["seven of them", `a${"\u200B".repeat(7)}`, "zero-width", "medium", undefined],
    ["two of them", "a \u200B\u200B b", "zero-width", "medium", undefined],
    ["one in a word", "a\u200Bb", "zero-width", "medium", undefined],
    ["one in a number", "1\u200B2", "zero-width", "medium", undefined],
    ["one after a word", "a\u200B b", "zero-width", "low", undefined],
    ["one at the beginning", "\u200Bb", "zero-width", "low", undefined],
    ["one at the end", "b\u200B", "zero-width", "low", undefined],
    ["one before a word", "a \u200Bb", "zero-width", "low", undefined],
    ["a mark of direction", "a\u200Eb", "bidi", "low", undefined],
    ["the other one", "a\u200Fb", "bidi", "low", undefined],
    ["the Arabic one, which is no Arabic text", "a\u061Cb", "bidi", "low", undefined],
    ["an embedding to the right", "a\u202Ab", "bidi", "medium", "b"],
    ["an embedding to the left", "a\u202Bb", "bidi", "medium", "b"],
    ["an isolate to the left", "a\u2067b", "bidi", "medium", "b"],
    ["an isolate by its first letter", "a\u2068b", "bidi", "medium", "b"],
    ["the end of an embedding", "a\u202Cb", "bidi", "medium", undefined],
    ["the end of an isolate", "a\u2069b", "bidi", "medium", undefined],
    ["a deprecated control", "a\u206Ab", "bidi", "medium", undefined],
    ["an override to the right", "a\u202Dbc\nd", "bidi", "high", "bc"],
    ["an override to the left", "a\u202Ebc\nd", "bidi", "high", "cb"],
    ["a stand-in for an object", "a\uFFFCb", "filler", "low", undefined],
    ["a blank letter", "a\u3164b", "filler", "medium", undefined],
    ["three private characters", "a\uE000\uE001\uE002", "private-use", "low", undefined],
    ["four private characters", "a\uE000\uE001\uE002\uE003", "private-use", "medium", undefined],
    ["one disguised word", "rеad", "lookalikes", "medium", "read"],
    ["two disguised words", "rеad rеad", "lookalikes", "medium", "read read"],
    ["three disguised words", "rеad rеad rеad", "lookalikes", "high", "read read read"],
    ["three styled letters", "ａｂｃ", "styled-letters", "low", "abc"],
    ["a styled letter in a word", "rｅad", "styled-letters", "low", "e"],
    ["four styled letters", "ａｂｃｄ", "styled-letters", "medium", "abcd"],
    ["three styled words", "ａｂ ｃｄ ｅｆ", "styled-letters", "high", "ab cd ef"],
  ])("%s", (_, text, kind, severity, hidden) => {
    expect(found(text)).toEqual([[kind, severity, hidden]]);
  });
});

describe("findings of one kind", () => {
  const fillers = (...gaps: readonly number[]): string =>
    `\u3164${gaps.map((gap) => `${"a".repeat(gap)}\u3164`).join("")}`;
  const places = (text: string) => normaliseText(text).findings.map(({ position, count }) => [position, count]);

  it("are one where they are close together, and one goes further the more there are", () => {
    expect(places(fillers(15))).toEqual([[0, 2]]);
    expect(places(fillers(16))).toEqual([
      [0, 1],
      [17, 1],
    ]);
    expect(places(fillers(15, 15))).toEqual([[0, 3]]);
    expect(places(fillers(15, 16))).toEqual([
      [0, 2],
      [33, 1],
    ]);
  });

  it("stay apart from those of another kind between them", () => {
    expect(normaliseText("a\u3164b\bc\u3164d").findings.map(({ kind, count }) => [kind, count])).toEqual([
      ["filler", 2],
      ["control", 1],
    ]);
  });

  it("are as bad as the worst of them", () => {
    expect(found("a\u200Eb\u202Ec\u200Ed")).toEqual([["bidi", "high", "d\u200Ec"]]);
  });

  it("are no slip any more where there are three", () => {
    expect(found("a\u200Eb\u200Ec")).toEqual([["bidi", "low", undefined]]);
    expect(found("a\u200Eb\u200Ec\u200Ed")).toEqual([["bidi", "medium", undefined]]);
  });

  it("tell what was hidden one after another, up to 4096 characters", () => {
    const tags = (text: string): string =>
      Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    expect(found(`a${tags("read ")}b${tags("this")}`)).toEqual([["tags", "critical", "read this"]]);
    const [finding] = found(`${tags("a".repeat(4000))}b${tags("c".repeat(200))}d${tags("e".repeat(200))}`);
    expect(finding?.[2]).toBe("a".repeat(4000) + "c".repeat(96));
  });

  it("are 64 at most, the rest counted with the last of their kind", () => {
    const { findings } = normaliseText(fillers(...Array.from({ length: 69 }, () => 100)));
    expect(findings).toHaveLength(64);
    expect(findings.at(-1)?.count).toBe(7);
    expect(normaliseText(`${fillers(...Array.from({ length: 69 }, () => 100))}\b`).findings).toHaveLength(64);
  });
});

describe("what is left", () => {
  it.each([
    ["lookalikes among styled letters", "ｒеａｄ this", "read this"],
    ["single styled letters in words", "ｒead thiｓ bＯok", "read this bOok"],
    [
      "a flag with tags behind it",
      "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E007F}\u{E0061}.",
      "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E007F}.",
    ],
    [
      "a language that needs its joiners, after words in three disguises",
      "\u{1F1F7}\u{1F1EA}\u{1F1E6} ｒｅａｄ rеad می\u200Cخواهم",
      "rea read read می\u200Cخواهم",
    ],
    ["a lone half of a pair", "a\uD800b", "ab"],
    ["a line that begins anew", "a\rb\r\nc", "a\nb\r\nc"],
    ["flags and words of flags", "\u{1F1F7}\u{1F1EA}\u{1F1E6} \u{1F1E9}\u{1F1F8}", "rea ds"],
    ["what came together when something was taken out", "a\u200D\u3164\u200Db", "ab"],
  ])("of %s", (_, text, plain) => {
    expect(normaliseText(text).text).toBe(plain);
  });
});
