import { describe, expect, it } from "vitest";
import { cleanTexts, gatherTexts, kindOf, READ_CHARACTERS } from "./value-texts.ts";

const HALF = READ_CHARACTERS / 2;
const dots = (text: string): string => text.replaceAll("x", ".");

describe("kindOf", () => {
  it.each([
    ["", false, "prose"],
    ["content.0.text", false, "prose"],
    ["content.12.resource.text", false, "prose"],
    ["content.0.text", true, "name"],
    ["content.0.name", false, "data"],
    ["content.a.text", false, "data"],
    ["content.0.other.text", false, "data"],
    ["structuredContent.content.0.text", false, "data"],
    ["content.0.text.0", false, "data"],
  ] as const)("of %j, as a name: %s, is %s", (path, name, kind) => {
    expect(kindOf(path, name)).toBe(kind);
  });
});

describe("gatherTexts", () => {
  it("has nothing to read in data without texts", () => {
    expect(gatherTexts([1, null])).toEqual({ text: "", total: 0, unread: 0, starts: { prose: 0, data: 0, name: 0 } });
  });

  it("reads a value whole that is just as long as may be read", () => {
    const whole = "-".repeat(READ_CHARACTERS - 1);
    expect(gatherTexts(whole)).toMatchObject({ text: `${whole}\n`, total: READ_CHARACTERS, unread: 0 });
    expect(gatherTexts(`${whole}-`)).toMatchObject({ total: READ_CHARACTERS + 1, unread: 1 });
  });

  it("gives prose first, then other data, then names", () => {
    const value = {
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
      ],
      more: { sky: "blue" },
    };
    expect(gatherTexts(value)).toEqual({
      text: "one\ntwo\ntext\ntext\nblue\ncontent\ntype\ntext\ntype\ntext\nmore\nsky\n",
      total: 60,
      unread: 0,
      starts: { prose: 0, data: 8, name: 23 },
    });
  });

  it("gives the beginning and the end of what is too long, and says how much it left out", () => {
    const { text, total, unread } = gatherTexts(["<", "-".repeat(READ_CHARACTERS), ">"]);
    expect([text.at(0), text.slice(-2), text.length]).toEqual(["<", ">\n", READ_CHARACTERS + 1]);
    expect([total, unread]).toEqual([READ_CHARACTERS + 5, 5]);
  });
});

describe("cleanTexts", () => {
  const clean = (value: unknown): unknown => cleanTexts(value, gatherTexts(value), dots);

  it("cleans every text of a value that is read whole", () => {
    expect(clean({ ax: ["xx", "b"] })).toEqual({ "a.": ["..", "b"] });
  });

  it("cleans a long text where it is read, and leaves the rest", () => {
    // A line feed follows each text where it is read.
    const cleaned = clean("x".repeat(READ_CHARACTERS + 3)) as string;
    expect(cleaned).toBe(`${".".repeat(HALF)}xxxx${".".repeat(HALF - 1)}`);
  });

  it("leaves texts alone that lie in the part that is not read", () => {
    const long = "-".repeat(HALF);
    expect(clean([long, "x", long])).toEqual([long, "x", long]);
    expect(clean(["x", long, "xx", long, "x"])).toEqual([".", long, "xx", long, "."]);
    const after = { content: [{ text: long }], a: "x", b: long };
    expect(clean(after)).toEqual({ content: [{ "te.t": long }], a: "x", b: long });
    expect(clean({ x: long, y: long, content: [{ text: "x" }] })).toEqual({
      ".": long,
      y: long,
      content: [{ "te.t": "." }],
    });
  });

  it("leaves half a character alone in the part that is not read", () => {
    const long = "-".repeat(HALF);
    const value = [long, "\uDC00\uDC00", long];
    const cleaned = cleanTexts(value, gatherTexts(value), (text) => text.replaceAll("\uDC00", "!"));
    expect(cleaned).toEqual(value);
  });

  it("cuts no character in two", () => {
    const text = `-${"\u{1F600}".repeat(READ_CHARACTERS)}`;
    const parts: string[] = [];
    cleanTexts(text, gatherTexts(text), (part) => {
      parts.push(part);
      return part;
    });
    expect(parts).toHaveLength(2);
    for (const part of parts) expect(part.isWellFormed()).toBe(true);
  });
});
