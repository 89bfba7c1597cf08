import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWordPiece } from "./wordpiece.ts";

const vocabulary = readFileSync(new URL("./vocabulary.txt", import.meta.url), "utf8");
const wordPiece = createWordPiece(vocabulary);
/** Ids that the reference tokenizer (Hugging Face tokenizers, BERT uncased) gives for these texts. */
const golden = JSON.parse(readFileSync(new URL("./golden.json", import.meta.url), "utf8")) as readonly {
  readonly text: string;
  readonly ids: readonly number[];
}[];

const ids = (text: string, maxTokens = 1_000): number[] => [...wordPiece.encode(text, { maxTokens })];

describe("createWordPiece", () => {
  it("gives the ids of the reference tokenizer for every golden text", () => {
    expect(golden.length).toBeGreaterThanOrEqual(190);
    const wrong = golden.filter(({ text, ids: expected }) => ids(text).join() !== expected.join());
    expect(wrong.map(({ text }) => text)).toEqual([]);
  });

  it("puts [CLS] first and [SEP] last, also around nothing", () => {
    expect(ids("")).toEqual([101, 102]);
    expect(ids("hello world")).toEqual([101, 7592, 2088, 102]);
    expect(wordPiece.special).toEqual([101, 102]);
    expect(wordPiece.size).toBe(30_522);
  });

  it("cuts a text to the tokens allowed, [CLS] and [SEP] included", () => {
    expect(ids("hello world hello world", 4)).toEqual([101, 7592, 2088, 102]);
    expect(ids("unaffable", 4)).toEqual([101, 14_477, 20_961, 102]);
    expect(ids("hello world", 2)).toEqual([101, 102]);
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
        expect(whole.every((id) => id >= 0 && id < 30_522)).toBe(true);
        expect(cut.slice(0, -1)).toEqual(whole.slice(0, -1).slice(0, maxTokens - 1));
        expect(cut.at(-1)).toBe(102);
      }),
    );
  });

  it("refuses a file that is no BERT vocabulary and says what is missing", () => {
    expect(() => createWordPiece("hello\nworld\n")).toThrow("The vocabulary has no [PAD]");
  });
});
