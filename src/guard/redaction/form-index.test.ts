import { describe, expect, it } from "vitest";
import { createFormIndex } from "./form-index.ts";

function indexOf(...forms: readonly string[]): ReturnType<typeof createFormIndex> {
  const index = createFormIndex();
  for (const form of forms) index.add(form);
  return index;
}

describe("an index of forms", () => {
  it("finds nothing where it has none, and none where there is nothing", () => {
    expect(indexOf().find("abcdef", true)).toEqual({ spans: [], open: 6 });
    expect(indexOf("abcdef").find("", true)).toEqual({ spans: [], open: 0 });
    expect(indexOf("abcdef").find("abcdeg abcde", false)).toEqual({ spans: [], open: 12 });
  });

  it("tells at a glance what has no form, and never passes over one", () => {
    expect(indexOf().mayFind("abcdef")).toBe(false);
    expect(indexOf("abcdef").mayFind("xyzxyz abc")).toBe(false);
    for (const text of ["abcdef", "-abcdef", "abcdef-"]) expect(indexOf("abcdef").mayFind(text)).toBe(true);
  });

  it("finds a form at the beginning, in the middle and at the end", () => {
    expect(indexOf("abcdef").find("abcdef-abcdef-abcdef", false).spans).toEqual([0, 6, 7, 13, 14, 20]);
  });

  it("finds forms that touch each other one by one, and those that overlap as one", () => {
    expect(indexOf("abcdef", "defghi").find("abcdefabcdefghi", false).spans).toEqual([0, 6, 6, 15]);
    expect(indexOf("abcdefgh", "cdef").find("abcdefgh", false).spans).toEqual([0, 8]);
  });

  it("finds the longest of those that begin alike, whatever the order they came in", () => {
    for (const forms of [
      ["abcd", "abcdef", "abcdefgh", "abcdzz"],
      ["abcdzz", "abcdefgh", "abcdef", "abcd"],
    ]) {
      const index = indexOf(...forms);
      const ends = ["abcdefgh", "abcdefg", "abcdef", "abcde", "abcdy", "abcdzz"].map((text) => index.find(text, false));
      expect(ends.map(({ spans }) => spans[1])).toEqual([8, 6, 6, 4, 4, 6]);
    }
  });

  it("finds one of a thousand forms that begin alike", () => {
    const forms = Array.from({ length: 1000 }, (_, number) => `key_${String(number).padStart(4, "0")}`);
    const index = indexOf(...forms, ...forms);
    expect(index.find(`key_key_0000 key_0999 key_1000 ${forms[500]}`, false).spans).toEqual([4, 12, 13, 21, 31, 39]);
  });

  it("is not misled by a beginning with the same hash", () => {
    // Moved four bits up, "a" over "q" is what "b" over "A" is.
    const [one, other] = ["aqaq-first", "bAbA-first"];
    expect(indexOf(one).find(`${other} ${one}`, true).spans).toEqual([11, 21]);
    expect(indexOf(one, other).find(`${other} ${one}`, false).spans).toEqual([0, 10, 11, 21]);
  });

  it("is not misled by the first three characters of a text, which are no beginning yet", () => {
    // "p" leaves nothing in the hash when it is moved that far up.
    expect(indexOf("pabcdef").find("abc", true)).toEqual({ spans: [], open: 3 });
    expect(indexOf("pabcdef").find("abc pabc", true)).toEqual({ spans: [4, 8], open: 4 });
  });

  it("finds what the end cuts off, where it may go on and four characters are there", () => {
    const index = indexOf("abcdef", "abcxyz");
    expect(["- abcd", "- abcx", "- abc", "- abcd ", "abcdef"].map((text) => index.find(text, true))).toEqual([
      { spans: [2, 6], open: 2 },
      { spans: [2, 6], open: 2 },
      { spans: [], open: 5 },
      { spans: [], open: 7 },
      { spans: [0, 6], open: 6 },
    ]);
    expect(index.find("- abcd", false)).toEqual({ spans: [], open: 6 });
  });

  it("takes the rest of the text for the one that the end cuts off, also where a shorter one is whole", () => {
    expect(indexOf("abcd", "abcdefgh").find("abcde", true)).toEqual({ spans: [0, 5], open: 0 });
    expect(indexOf("abcdefgh", "efghij").find("abcdefghi", true)).toEqual({ spans: [0, 9], open: 4 });
  });
});
