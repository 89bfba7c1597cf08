import { describe, expect, it } from "vitest";
import { decodeBits, decodeSelectors, decodeTags } from "./decode-hidden.ts";

const bytes = (text: string): readonly number[] => [...Buffer.from(text)];
const first = (value: number): string => String.fromCodePoint(0xfe00 + value);
const second = (value: number): string => String.fromCodePoint(0xe0100 + value);

describe("decodeTags", () => {
  it("reads each tag character as the one of ASCII it stands for", () => {
    expect(decodeTags("\u{E0020}\u{E0041}\u{E007E}")).toBe(" A~");
  });

  it("leaves out those that stand for nothing one can read", () => {
    expect(decodeTags("\u{E0001}\u{E001F}\u{E0061}\u{E007F}")).toBe("a");
  });
});

describe("decodeSelectors", () => {
  const write = (text: string, each: (byte: number) => string): string => bytes(text).map(each).join("");

  it.each([
    ["bytes", write("a\n\tb", (byte) => (byte < 16 ? first(byte) : second(byte - 16))), "a\n\tb"],
    ["bytes of the second row alone", write("stop", second), "stop"],
    ["halves, the low one first", write("Read", (byte) => first(byte & 15) + first(byte >> 4)), "Read"],
    ["halves, the high one first", write("Read", (byte) => first(byte >> 4) + first(byte & 15)), "Read"],
    ["halves in both rows", write("Read\nit", (byte) => first(byte & 15) + second(byte >> 4)), "Read\nit"],
    [
      "two letters",
      write("Hi", second).replaceAll(second(0x48), second(0x38)).replaceAll(second(0x69), second(0x59)),
      "Hi",
    ],
    ["text beyond ASCII", write("naïve", (byte) => second(byte - 16)), undefined],
    ["one byte", second(0x41 - 16), undefined],
    ["halves of numbers that are no bytes", first(0) + second(20) + first(0) + second(20), undefined],
    ["halves of which some are no bytes", first(0) + second(20) + first(1) + first(4), undefined],
  ])("reads %s", (_, characters, text) => {
    expect(decodeSelectors(characters)).toBe(text);
  });
});

describe("decodeBits", () => {
  const write = (text: string): string =>
    bytes(text)
      .map((byte) => byte.toString(2).padStart(8, "0").replaceAll("0", "\u200B").replaceAll("1", "\u200C"))
      .join("");

  it.each([
    ["eight bits a letter", write("Read"), "Read"],
    ["and leaves out bits that are too few for a letter", `${write("Read")}\u200B\u200C`, "Read"],
    ["no single letter", write("R"), undefined],
    ["no row of one character", "\u200B".repeat(16), undefined],
    ["no row of three", `${write("Read")}\u200D`, undefined],
    [
      "nothing that is no text",
      "\u200B\u200C".repeat(8).replaceAll("\u200B\u200C\u200B", "\u200B\u200B\u200B"),
      undefined,
    ],
    ["nothing in nothing", "", undefined],
  ])("reads %s", (_, characters, text) => {
    expect(decodeBits(characters)).toBe(text);
  });
});
