import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { always, rule, toExpression, unless } from "./phrases.ts";
import { toRuleText } from "./rule.ts";

const found = (phrase: string, text: string): readonly string[] => text.match(toExpression([phrase])) ?? [];

describe("a phrase", () => {
  it("is found everywhere, in any case, and as whole words", () => {
    expect(found("end|start", "bend ends restart START end")).toEqual(["START", "end"]);
  });

  it("may begin and end anywhere with signs and with other scripts", () => {
    expect(found("::x", "a::X b::xy")).toEqual(["::X"]);
    expect(found("無視", "全無視c")).toEqual(["無視"]);
  });

  it("stands apart by any white space, up to eight characters of it", () => {
    expect(found("a b", "a b, a\n\tb, ab, a        b, a         b")).toEqual(["a b", "a\n\tb", "a        b"]);
  });

  it("may stand together where the space is optional", () => {
    expect(found("code ?base", "codebase, code base, code-base")).toEqual(["codebase", "code base"]);
  });

  it("leaves up to sixty characters of one sentence out", () => {
    const sixty = ` ${"x".repeat(58)} `;
    expect(
      found("keep … quiet", `keep${sixty}quiet; keep ${sixty}quiet; keep. quiet; keep\nquiet; keeper quiet`),
    ).toEqual([`keep${sixty}quiet`]);
  });

  it("has verbs in all their forms", () => {
    expect(
      found("send~|includ~|put~", "send sends sender sending include includes including puts putting inclusion"),
    ).toEqual(["send", "sends", "sending", "include", "includes", "including", "puts", "putting"]);
  });

  it("has lists of words, and lists in them", () => {
    expect(found("the {model}", "the ai, the model, the word")).toEqual(["the ai", "the model"]);
    expect(found("{secret-file}", "~/.netrc and mcp.json")).toEqual([".netrc", "mcp.json"]);
  });

  it("groups without keeping, and leaves other brackets alone", () => {
    expect(toExpression(["(all|any) rule(?!s)"]).exec("any rules, all rule")).toEqual(
      expect.objectContaining({ 0: "all rule", length: 1 }),
    );
  });

  it("means what it escapes and what stands in square brackets", () => {
    expect(found("f\\(\\)", "f() ff")).toEqual(["f()"]);
    expect(found("[( ]x[\\] ]", "(x] x ff")).toEqual(["(x]", " x "]);
  });

  it("counts capitals after an equals sign", () => {
    expect(found("=DAN", "DAN dan Dan")).toEqual(["DAN"]);
  });

  it("finds nothing if it is empty", () => {
    expect(toExpression(["a", ""]).test("b")).toBe(false);
  });

  it("of plain words is found in whatever stands around it", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const words = fc.array(word, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(words, fc.stringMatching(/^[,;: ]{1,5}$/), (phrase, around) => {
        const text = phrase.join(" ");
        expect(found(text, around + text + around)).toEqual([text]);
      }),
    );
  });
});

describe("a rule of phrases", () => {
  const spans = (phrases: readonly string[], text: string) =>
    rule("injection.x", "low", "X.", Object.fromEntries(phrases.entries())).find(toRuleText(text));

  it("has the category its id begins with", () => {
    expect(rule("secret-access.x", "low", "X.", {}).category).toBe("secret-access");
  });

  it("finds what any of its phrases finds, whether capitals count or not", () => {
    expect(spans(["cat", "=DOG", "a >5 b"], "x Cat")).toEqual({ start: 2, end: 5 });
    expect(spans(["cat", "=DOG", "a >5 b"], "x DOG")).toEqual({ start: 2, end: 5 });
    expect(spans(["cat", "=DOG", "a >5 b"], "x a b")).toEqual({ start: 2, end: 5 });
    expect(spans(["cat", "=DOG", "a >5 b"], "x dog")).toBeUndefined();
  });

  it("takes steps in their order, each as close as it says", () => {
    expect(spans(["a >3 b >1 =C"], "a 1 b C")).toEqual({ start: 0, end: 7 });
    expect(spans(["a >3 b >1 =C"], "a 1 b c")).toBeUndefined();
    expect(spans(["a >2 b >1 =C"], "a 1 b C")).toBeUndefined();
    expect(spans(["a >3 b"], "b a")).toBeUndefined();
  });

  it("takes two steps in either order", () => {
    expect(spans(["a <>3 b"], "a b")).toEqual({ start: 0, end: 3 });
    expect(spans(["a <>3 b"], "b a")).toEqual({ start: 0, end: 3 });
    expect(spans(["a <>3 b"], "b 123 a")).toBeUndefined();
  });

  it("passes over what is forbidden, and finds what follows", () => {
    expect(spans(["send"], "Never send it. Send it.")).toEqual({ start: 15, end: 19 });
    expect(spans(["send >9 key"], "Never send a key.")).toBeUndefined();
  });

  it("finds what is forbidden too, if it always does", () => {
    expect(always("injection.x", "low", "X.", { sample: "send" }).find(toRuleText("Never send"))).toBeDefined();
  });

  it("finds nothing in a text with an exception", () => {
    const [excepted] = unless("in a novel", [rule("injection.x", "low", "X.", { sample: "send" })]);
    expect(excepted?.find(toRuleText("Send it"))).toBeDefined();
    expect(excepted?.find(toRuleText("In a novel: send it"))).toBeUndefined();
  });
});
