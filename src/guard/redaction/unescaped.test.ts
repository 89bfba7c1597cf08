import { describe, expect, it } from "vitest";
import { nestedRepetitions } from "../../../test/guard/nested-repetitions.ts";
import { ESCAPE, unescapeOnce } from "./unescaped.ts";

const LONG = "plain é€😀\uD83D ".repeat(30);

describe("unescapeOnce", () => {
  it.each([
    ["a%2Fb", "a/b"],
    ["a%2fb", "a/b"],
    ["%C3%a9%c3%BC", "éü"],
    ["%E2%82%AC", "€"],
    ["%F0%9F%98%80", "😀"],
    ["%E9", "é"],
    ["a%252Fb", "a%2Fb"],
    [String.raw`a\/b\"c\\d`, 'a/b"c\\d'],
    [String.raw`\u00e9\u00C9`, "éÉ"],
    [String.raw`\u{e9}\u{1F600}`, "é😀"],
    [String.raw`\u{ffffff}x`, "x"],
    [String.raw`\uD83D\uDE00`, "😀"],
    [String.raw`\xc3\xA9\x2f`, "é/"],
    [String.raw`1\n2\r3\t4\b5\f6`, "1\n2\r3\t4\b5\f6"],
    ["&amp;&lt;&gt;&quot;&apos;&AMP;", "&<>\"'&"],
    ["&#233;&#xe9;&#XE9;&#9999999;", "ééé"],
    ["broken\nin\r\nlines", "brokeninlines"],
    // Long stretches without an escape are copied as a whole, and a half of a character stays as it is.
    [`${LONG}%2F${LONG}%41${LONG}`, `${LONG}/${LONG}A${LONG}`],
  ])("reads %j as %j", (escaped, plain) => {
    expect(unescapeOnce(escaped)?.text).toBe(plain);
  });

  it.each(["plain", "100 % & more", "%2", "%G0", String.raw`C:\data`, "&nothing;", "&#;", String.raw`\u00g0`, "\r"])(
    "finds nothing to undo in %j",
    (text) => {
      expect(unescapeOnce(text)).toBeUndefined();
    },
  );

  it("knows where each character stood, escapes and all", () => {
    const given = String.raw`ab%2Fcd\u00e9&amp;e`;
    const { text, startOf, endOf } = unescapeOnce(given) ?? expect.fail();
    const stood = Array.from(text, (character, place) => [character, given.slice(startOf(place), endOf(place + 1))]);
    expect(stood).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["/", "%2F"],
      ["c", "c"],
      ["d", "d"],
      ["é", String.raw`\u00e9`],
      ["&", "&amp;"],
      ["e", "e"],
    ]);
  });

  it("leaves a line's end outside of what ends or begins there", () => {
    const { text, startOf, endOf } = unescapeOnce("ab\ncd\n") ?? expect.fail();
    expect([text, endOf(2), startOf(2), endOf(4)]).toEqual(["abcd", 2, 3, 5]);
  });

  it.each([
    ["abc%", "abc"],
    ["abc%2", "abc"],
    ["abc%C3", "abc"],
    ["abc%F0%9F%98", "abc"],
    ["abc\\", "abc"],
    [String.raw`abc\u00e`, "abc"],
    [String.raw`abc\xc`, "abc"],
    [String.raw`abc\u{1F60`, "abc"],
    ["abc&", "abc"],
    ["abc&#x2", "abc"],
    ["abc&quot", "abc"],
    ["abc\r", "abc"],
    ["a%2Fc%", "a/c"],
    ["abc%E2%82%", "abc"],
    ["abc%E2", "abc"],
    [String.raw`abc\xc3\x`, "abc"],
  ])("reads %j, which may go on, as %j and counts the beginning of the escape to that", (given, plain) => {
    const { text, endOf } = unescapeOnce(given, true) ?? expect.fail();
    expect([text, endOf(plain.length)]).toEqual([plain, given.length]);
  });

  it.each([
    ["abc%2F", "abc/"],
    ["abc%C3%A9", "abcé"],
    ["abc%E2%82%AC", "abc€"],
    ["abc%F0%9F%98%80", "abc😀"],
    [String.raw`abc\u00e9de`, "abcéde"],
    [String.raw`abc\xe9d`, "abcéd"],
    ["abc&amp;", "abc&"],
  ])("reads all of %j, which may go on, but whose escapes end", (given, plain) => {
    expect(unescapeOnce(given, true)?.text).toBe(plain);
  });

  it("counts what stands after the end to nothing that ends before", () => {
    const { endOf } = unescapeOnce("a%2Fc%", true) ?? expect.fail();
    expect([endOf(1), endOf(2)]).toEqual([1, 4]);
  });

  it("reads a text in linear time", () => {
    expect(nestedRepetitions(ESCAPE)).toEqual([]);
    expect(ESCAPE.source).not.toMatch(/[^\\][*+]|\{\d+,\}/);
  });
});
