import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nativePattern } from "../../../tool/schema/keywords.ts";
import { readPattern } from "./patterns.ts";

/** What becomes of a pattern: how it is run. */
function how(source: string): string {
  const { backtracks, note } = readPattern(source);
  if (note !== undefined) return "ignored";
  return backtracks ? "native" : "RE2";
}

describe("readPattern", () => {
  it.each([
    ["^(a+)+$", `${"a".repeat(50)}!`],
    ["(x+x+)+y", "x".repeat(50_000)],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(50_000)],
    ["(a|aa)+$", `${"a".repeat(50_000)}b`],
    ["^(.*?,){30}P", "1,".repeat(5_000)],
  ])("decides %s in linear time", (source, text) => {
    expect(how(source)).toBe("RE2");
    expect(readPattern(source).test(text)).toBe(false);
  });

  it.each([
    "^(?!.*\\.\\.)[a-z.]+$",
    "^(?=.*[A-Z])(?=.*\\d).{8,64}$",
    "^.{1,2000}$",
    "^(?:(?:a{1,40}b){1,40})$",
    "(?<=a)b",
    "^(a+)+\\1$",
    "(".repeat(300) + ")".repeat(300),
  ])("says that only JavaScript's engine can run %s", (source) => {
    expect(how(source)).toBe("native");
    expect(readPattern(source).test("aa")).toBe(nativePattern(source)?.test("aa"));
  });

  it.each(["(", "[", "a**", "\\Ax\\Z", "(?i)x", "x{2,1}", "[b-a]", "a".repeat(6_000)])("does not read %s", (source) => {
    expect(how(source)).toBe("ignored");
  });

  it("does not let RE2 make an enormous program of a small pattern", () => {
    expect(how("(?:[a-z]{0,1000}[0-9]{0,1000}){2}(?:abc){1000}")).toBe("native");
    expect(how("[a-z]{0,900}".repeat(300))).toBe("native");
    expect(how("^[a-z]{1,1000}$")).toBe("RE2");
  });

  it.each([
    ["\\s", "\u00a0"],
    ["^\\S$", "\u00a0"],
    ["^[\\S\\d]$", "\ufeff"],
    ["^.$", "\u2028"],
    ["^.$", "😀"],
    ["[[:alpha:]]", ":]"],
    ["^[\\w-.]+$", "a-b.c"],
    ["\\u0041\\x42\\cI\\u{1F600}\\ud83d\\ude00", "AB\t😀😀"],
    ["^[^]$", "\n"],
    ["[]", "a"],
    ["a{,2}", "a{,2}"],
    ["x{1", "x{1"],
    ["]", "]"],
    ["[\\b]", "\b"],
    ["^(?<year>\\d{4})$", "2024"],
    ["\\p{Script=Greek}\\p{Letter}", "αβ"],
    ["\\bfoo\\B", "a foob"],
    ["a$", "a\n"],
    ["^(?:)$", ""],
  ])("means by %s what JavaScript means", (source, text) => {
    expect(readPattern(source).test(text)).toBe(nativePattern(source)?.test(text));
  });

  it("means by any pattern what JavaScript means", () => {
    const atom = fc.constantFrom(
      ...String.raw`a b . \d \w \s \S \W [ab] [^a] [\sz-] [a-c\d] \. \n é 😀 \b ^ $`.split(" "),
    );
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie("pattern"), tie("pattern")).map((parts) => parts.join("")),
        fc.tuple(tie("pattern"), tie("pattern")).map((parts) => `(?:${parts.join("|")})`),
        fc
          .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "*?"))
          .map(([inner, times]) => `(${inner})${times}`),
      ),
    }));
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "c", "1", ".", " ", "\n", "\r", "\u00a0", "é", "😀", "_"),
      maxLength: 6,
    });
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 3, maxLength: 3 }), (source, texts) => {
        const native = new RegExp(source, "u");
        const safe = readPattern(source);
        expect([safe.note, safe.backtracks]).toEqual([undefined, false]);
        for (const each of texts) expect(safe.test(each), JSON.stringify([source, each])).toBe(native.test(each));
      }),
    );
  });
});
