import { describe, expect, it } from "vitest";
import { CONCEALED_RULES } from "./concealed.ts";
import { toRuleText, type Span } from "./rule.ts";

const find = (id: string, text: string): Span | undefined =>
  CONCEALED_RULES.find((rule) => rule.id === id)?.find(toRuleText(text));

describe("hidden.comment", () => {
  const found = (text: string): string | undefined => {
    const span = find("hidden.comment", text);
    return span && text.slice(span.start, span.end);
  };

  it("finds the comment that speaks to a model among others", () => {
    expect(found("You see. <!-- round up --> <!-- you must round up --> You see.")).toBe("<!-- you must round up --");
  });

  it("finds it after one that is for programs", () => {
    expect(found("<!-- prettier-ignore --> <!-- you must round up -->")).toBe("<!-- you must round up --");
  });

  it("is not misled by what stands around a comment", () => {
    expect(found("you <!-- round up --> you")).toBeUndefined();
  });

  it("finds words at the very beginning and the very end", () => {
    expect(found("<!--you-->")).toBe("<!--you--");
    expect(found("<!--round up, you")).toBe("<!--round up, you");
  });

  it.each(["prettier-ignore", "markdownlint-disable", "toc", "https://a.example/you"])(
    "passes over what is for programs: %s",
    (pragma) => {
      expect(found(`<!-- ${pragma}, you -->`)).toBeUndefined();
    },
  );
});

describe("hidden.flood", () => {
  it.each([
    ["25 line feeds", "\n".repeat(25).padEnd(48), true],
    ["24 lines in 48 characters", "\n".repeat(23).padEnd(48), false],
    ["120 characters with a line feed", `\n${" ".repeat(119)}`, true],
    ["120 spaces", " ".repeat(120), false],
    ["159 spaces", " ".repeat(159), false],
    ["160 spaces", " ".repeat(160), true],
    ["119 characters with a line feed", `\n${" ".repeat(118)}`, false],
    ["47 line feeds", "\n".repeat(47), false],
  ])("of %s", (_, gap, floods) => {
    expect(find("hidden.flood", `a${gap}b`) !== undefined).toBe(floods);
  });

  it("finds one that lies behind a bar or a hyphen", () => {
    expect(find("hidden.flood", `a | b-c${" ".repeat(200)}d`)).toEqual({ start: 7, end: 207 });
  });

  it.each([
    ["at the beginning", `${"\n".repeat(60)}b`],
    ["at the end", `a${"\n".repeat(60)}`],
    ["before a bar", `a${" ".repeat(200)}| b`],
    ["before a corner", `a${" ".repeat(200)}+--`],
    ["before a rule", `a${" ".repeat(200)}---`],
  ])("passes %s", (_, text) => {
    expect(find("hidden.flood", text)).toBeUndefined();
  });
});
