import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWordPiece } from "./wordpiece.ts";

const vocabulary = readFileSync(new URL("./vocabulary.txt", import.meta.url), "utf8");
const wordPiece = createWordPiece(vocabulary);
/** Tokens by their numbers. */
const tokens = vocabulary.split("\n");
/** The tokens of the reference tokenizer (Hugging Face tokenizers, BERT uncased) for these texts. */
const golden = JSON.parse(readFileSync(new URL("./golden.json", import.meta.url), "utf8")) as readonly {
  readonly text: string;
  readonly tokens: readonly string[];
}[];

const ids = (text: string, maxTokens = 1_000): number[] => [...wordPiece.encode(text, { maxTokens })];
const split = (text: string, maxTokens?: number): string =>
  ids(text, maxTokens)
    .map((id) => tokens[id])
    .join(" ");

describe("createWordPiece", () => {
  it("gives the tokens of the reference tokenizer for every golden text", () => {
    expect(golden.length).toBeGreaterThanOrEqual(190);
    const wrong = golden.filter(({ text, tokens: expected }) => split(text) !== expected.join(" "));
    expect(wrong.map(({ text }) => text)).toEqual([]);
  });

  it("puts [CLS] first and [SEP] last, also around nothing", () => {
    expect(split("")).toBe("[CLS] [SEP]");
    expect(split("hello world")).toBe("[CLS] hello world [SEP]");
    expect(wordPiece.special.map((id) => tokens[id])).toEqual(["[CLS]", "[SEP]"]);
  });

  it("cuts a text to the tokens allowed, [CLS] and [SEP] included", () => {
    expect(split("hello world hello world", 4)).toBe("[CLS] hello world [SEP]");
    expect(split("unaffable", 4)).toBe("[CLS] una ##ffa [SEP]");
    expect(split("hello world", 2)).toBe("[CLS] [SEP]");
  });

  it("drops halves of surrogate pairs, which no valid text has", () => {
    expect(ids("he\ud83dllo \ude00world")).toEqual(ids("hello world"));
  });

  it("gives the same ids for a text whether or not its words are remembered", () => {
    const fresh = createWordPiece(vocabulary);
    const text = "Remembered words, remembered once more: remembered!";
    const first = [...fresh.encode(text, { maxTokens: 100 })];
    expect([...fresh.encode(text, { maxTokens: 100 })]).toEqual(first);
    expect(ids(text)).toEqual(first);
  });

  it("never leaves the vocabulary, and truncation is a prefix of the whole", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (text, maxTokens) => {
        const whole = ids(text);
        const cut = ids(text, maxTokens);
        expect(whole.every((id) => id >= 0 && id < wordPiece.size)).toBe(true);
        expect(cut.slice(0, -1)).toEqual(whole.slice(0, -1).slice(0, maxTokens - 1));
        expect(tokens[cut.at(-1) ?? -1]).toBe("[SEP]");
      }),
    );
  });

  it("refuses a file that is no BERT vocabulary and says what is missing", () => {
    expect(() => createWordPiece("hello\nworld\n")).toThrow("The vocabulary has no [PAD]");
  });
});
