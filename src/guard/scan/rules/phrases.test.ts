import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactly, marks, words } from "./phrases.ts";

const found = (expression: RegExp, text: string): readonly string[] => text.match(expression) ?? [];

describe("words", () => {
  it("find each of their lines, everywhere and in any case", () => {
    expect(found(words("set aside", "forget"), "Forget it. SET ASIDE all, forget.")).toEqual([
      "Forget",
      "SET ASIDE",
      "forget",
    ]);
  });

  it("are whole", () => {
    expect(found(words("end|start"), "bend ends restart start")).toEqual(["start"]);
  });

  it("stand apart by any white space, up to eight characters of it", () => {
    expect(found(words("a b"), "a b, a\n\tb, ab, a        b, a         b")).toEqual(["a b", "a\n\tb", "a        b"]);
  });

  it("may stand together where the space is optional", () => {
    expect(found(words("code ?base"), "codebase, code base, code\nbase, code-base, code         base")).toEqual([
      "codebase",
      "code base",
      "code\nbase",
    ]);
  });

  it("leave up to sixty characters of one sentence out", () => {
    const sixty = ` ${"x".repeat(58)} `;
    expect(found(words("keep … quiet"), `keep it quiet. keep${sixty}quiet.`)).toEqual([
      "keep it quiet",
      `keep${sixty}quiet`,
    ]);
    expect(
      found(words("keep … quiet"), `keep ${sixty}quiet; keep. quiet; keep\nquiet; keeper quiet; keep unquiet`),
    ).toEqual([]);
  });

  it("group without keeping", () => {
    expect(words("(all|any) rules").exec("any rules")).toHaveLength(1);
    expect(found(words("(all|any) rules"), "all rules, any rules, rules")).toEqual(["all rules", "any rules"]);
  });

  it("find nothing by an empty line", () => {
    expect(found(words("a", ""), "a b")).toEqual(["a"]);
  });

  it("leave brackets alone that say more than that", () => {
    expect(found(words("rule(?!s)"), "rules rule")).toEqual(["rule"]);
  });
});

describe("marks", () => {
  it("need no edge of a word, in any case", () => {
    expect(found(marks("::x", "無視"), "a::Xb 全無視c")).toEqual(["::X", "無視"]);
  });

  it("mean what they escape and what stands in square brackets", () => {
    expect(found(marks("f\\(\\)", "[( ]x[\\] ]"), "f() (x] x ff")).toEqual(["f()", "(x]", " x "]);
  });
});

describe("exactly", () => {
  it("counts capitals", () => {
    expect(found(exactly("DAN", "as Dan"), "DAN dan, asked as Dan")).toEqual(["DAN", "as Dan"]);
  });
});

describe("a phrase of plain words", () => {
  it("finds itself in whatever stands around it", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 5 }),
        fc.stringMatching(/^[,;: ]{1,5}$/),
        (phrase, around) => {
          const text = phrase.join(" ");
          expect(found(words(text), around + text + around)).toEqual([text]);
        },
      ),
    );
  });
});
