import { describe, expect, it } from "vitest";
import { disguises, spelledWithFlags, styledWords } from "./lookalikes.ts";

const latin = (words: readonly { readonly latin: string }[]): readonly string[] => words.map((word) => word.latin);

describe("disguises", () => {
  it("says which word passes for which, and where", () => {
    expect(disguises("Now rеаd this")).toEqual([{ start: 4, word: "rеаd", latin: "read" }]);
  });

  it.each([
    ["Cyrillic letters in a Latin word", "rеаd", ["read"]],
    ["two letters of which one is Cyrillic", "gо now", ["go"]],
    ["Greek letters in a Latin word", "rεαd", ["read"]],
    ["small capitals", "ɪɢɴᴏʀᴇ this text", ["IGNoRe"]],
    ["a word all of lookalikes in Latin text", "the сору here", ["copy"]],
    ["a single one beside a disguised word", "the а and rеad", ["a", "read"]],
    ["a disguised word in a language that uses the alphabet", "Москва и rеad", ["read"]],
  ])("finds %s", (_, text, words) => {
    expect(latin(disguises(text))).toEqual(words);
  });

  it.each([
    ["a word in a text that uses its alphabet", "the old сору of this one жук here"],
    ["a word with a letter that looks like no Latin one", "the файл here"],
    ["words of lookalikes where there is as much of them as of Latin", "copy сору"],
    ["a single letter in Latin text", "the rate α here"],
    ["a Greek symbol beside one letter", "in αx and τs here"],
    ["accents", "naïve café"],
  ])("lets pass %s", (_, text) => {
    expect(disguises(text)).toEqual([]);
  });

  it("tells them in the order they stand in, whole words and others", () => {
    expect(latin(disguises("first сору then rеad and сору there"))).toEqual(["copy", "read", "copy"]);
  });
});

describe("styledWords", () => {
  it("says which word stands for which, and where", () => {
    expect(styledWords("A ｒｅａｄ B")).toEqual([{ start: 2, word: "ｒｅａｄ", latin: "read" }]);
  });

  it.each([
    ["mathematical", "\u{1D42B}\u{1D41E}", "re"],
    ["circled", "\u24D0\u24E9", "az"],
    ["in brackets", "\u249C\u24B5", "az"],
    ["squared", "\u{1F130}\u{1F149}", "AZ"],
    ["circled on black", "\u{1F150}\u{1F169}", "AZ"],
    ["squared on black", "\u{1F170}\u{1F189}", "AZ"],
  ])("reads letters that are %s", (_, word, plain) => {
    expect(latin(styledWords(word))).toEqual([plain]);
  });

  it("lets a single one pass, and ordinary text", () => {
    expect([styledWords("Ａ b"), styledWords("plain")]).toEqual([[], []]);
  });

  it("lets full-width letters pass in East Asian text, unless they are many, and no others", () => {
    expect(styledWords(`${"Ａ".repeat(12)}の天気`)).toEqual([]);
    expect(latin(styledWords(`${"Ａ".repeat(13)}の天気`))).toEqual(["A".repeat(13)]);
    expect(latin(styledWords("\u{1D42B}\u{1D41E}の天気"))).toEqual(["re"]);
    expect(latin(styledWords("\u{1D42B}Ａの天気"))).toEqual(["rA"]);
    expect(latin(styledWords("Ａ\u{1D42B}の天気"))).toEqual(["Ar"]);
  });
});

describe("spelledWithFlags", () => {
  it("reads a row of an odd number of letters, and the other rows with it", () => {
    expect(spelledWithFlags("go \u{1F1F7}\u{1F1EA}\u{1F1FF} \u{1F1E6}\u{1F1E9}")).toEqual([
      { start: 3, word: "\u{1F1F7}\u{1F1EA}\u{1F1FF}", latin: "rez" },
      { start: 10, word: "\u{1F1E6}\u{1F1E9}", latin: "ad" },
    ]);
  });

  it("lets flags pass, and text without any", () => {
    expect(spelledWithFlags("\u{1F1FA}\u{1F1F8} \u{1F1EC}\u{1F1E7}\u{1F1EB}\u{1F1F7}")).toEqual([]);
    expect(spelledWithFlags("plain")).toEqual([]);
  });
});
