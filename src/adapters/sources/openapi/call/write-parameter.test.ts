import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Style, Writing } from "../read/read-parameters.ts";
import {
  encodeForForm,
  encodeForPath,
  encodeForQuery,
  encodeStrictly,
  writeOne,
  writePairs,
} from "./write-parameter.ts";

const writing = (style: Style, explode: boolean): Writing => ({ style, explode, allowReserved: false });

/** Text with everything that means something in an address, and beyond. */
const word = fc.string({
  unit: fc.oneof(fc.constantFrom(..." ,;&=.|/?#[]%+\t\"'~*ä€😀"), fc.string({ minLength: 1, maxLength: 1 })),
});
const filled = word.filter((text) => text !== "");
const list = fc.array(filled, { minLength: 1, maxLength: 5 });
const object = fc
  .dictionary(filled, filled, { minKeys: 1, maxKeys: 5 })
  .filter((value) => !("__proto__" in { ...value } && Object.hasOwn(value, "__proto__")));

const decode = decodeURIComponent;
const entriesOf = (value: object): readonly (readonly [string, unknown])[] => Object.entries(value);
const inTwos = (words: readonly string[]): readonly (readonly [string, string])[] =>
  words.flatMap((each, index) => (index % 2 === 0 ? [[each, words[index + 1] ?? ""] as const] : []));
const assigned = (text: string): readonly [string, string] => {
  const at = text.indexOf("=");
  return [decode(text.slice(0, at)), decode(text.slice(at + 1))];
};

describe("what is written can be read back", () => {
  it.each([
    ["simple", ",", ""],
    ["label", ",", "."],
    ["matrix", ",", ";n="],
    ["pipeDelimited", "%7C", ""],
    ["spaceDelimited", "%20", ""],
    ["tabDelimited", "%09", ""],
  ] as const)("as one text in style %s, not exploded", (style, delimiter, prefix) => {
    const read = (text: string): readonly string[] => {
      expect(text.startsWith(prefix)).toBe(true);
      return text.slice(prefix.length).split(delimiter).map(decode);
    };
    const plain = delimiter === "," ? fc.constant("") : fc.constant(decode(delimiter));
    fc.assert(
      fc.property(list, object, plain, (words, members, illegal) => {
        // Styles other than comma cannot carry their own delimiter: both are encoded alike.
        fc.pre(illegal === "" || ![...words, ...Object.entries(members).flat()].some((each) => each.includes(illegal)));
        expect(read(writeOne("n", words, writing(style, false), encodeStrictly))).toEqual(words);
        expect(inTwos(read(writeOne("n", members, writing(style, false), encodeStrictly)))).toEqual(entriesOf(members));
      }),
    );
  });

  it.each([
    ["simple", ",", ""],
    ["matrix", ";", ";"],
  ] as const)("as one text in style %s, exploded", (style, delimiter, prefix) => {
    fc.assert(
      fc.property(object, (members) => {
        const text = writeOne("n", members, writing(style, true), encodeStrictly);
        expect(text.slice(prefix.length).split(delimiter).map(assigned)).toEqual(entriesOf(members));
      }),
    );
  });

  it.each([
    ["strictly", encodeStrictly],
    ["for queries", encodeForQuery],
  ] as const)("as a query encoded %s, by URLSearchParams where it reads the same", (_how, encode) => {
    fc.assert(
      fc.property(word, list, object, (text, words, members) => {
        const read = (pairs: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] => {
          const query = pairs.map((pair) => pair.join("=")).join("&");
          expect(new URL(`http://x.test/?${query}`).search).toBe(query === "" ? "" : `?${query}`);
          return [...new URLSearchParams(query)];
        };
        expect(read(writePairs("n", text, writing("form", true), encode))).toEqual([["n", text]]);
        expect(read(writePairs("n", words, writing("form", true), encode))).toEqual(words.map((each) => ["n", each]));
        // Names stay encoded whatever their values may keep.
        expect(read(writePairs("n", members, writing("form", true), encodeStrictly))).toEqual(entriesOf(members));
        expect(read(writePairs("n", members, writing("deepObject", true), encodeStrictly))).toEqual(
          entriesOf(members).map(([name, value]) => [`n[${name}]`, value]),
        );
      }),
    );
  });

  it("as a form, as browsers read it", () => {
    fc.assert(
      fc.property(word, (text) => {
        expect(`n=${encodeForForm(text)}`).toBe(String(new URLSearchParams([["n", text]])));
      }),
    );
  });

  it("as a path of several segments, which stay where they are", () => {
    fc.assert(
      fc.property(
        fc.array(
          filled.filter((text) => !text.includes("/") && !/^\.+$/.test(text)),
          { minLength: 1 },
        ),
        (segments) => {
          const url = new URL(`http://x.test/${encodeForPath(segments.join("/"))}`);
          expect([url.pathname.slice(1).split("/").map(decode), url.search, url.hash]).toEqual([segments, "", ""]);
        },
      ),
    );
  });
});

describe("what a style has no way to write", () => {
  it("is JSON inside, and left out where it is nothing", () => {
    const value = { a: { b: 1 }, c: null, d: [1, 2] };
    expect(writePairs("n", value, writing("form", true), (text) => text)).toEqual([
      ["a", '{"b":1}'],
      ["d", "[1,2]"],
    ]);
    expect(writePairs("n", [undefined, null], writing("form", false), encodeStrictly)).toEqual([]);
  });
});
