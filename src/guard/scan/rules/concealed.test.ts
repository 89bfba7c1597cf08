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

  it.each([
    "prettier-ignore",
    "markdownlint-disable",
    "eslint-disable",
    "toc",
    "all-contributors",
    "release-please",
    "![logo](a.png)",
    "https://a.example/you",
    "http://a.example/you",
  ])("passes over what is for programs: %s", (pragma) => {
    expect(found(`<!-- ${pragma}, you -->`)).toBeUndefined();
    expect(found(`<!--${pragma}, you -->`)).toBeUndefined();
  });

  it.each(["tocsin, you", "see prettier, you", "httpd, you", "!x, you"])(
    "finds what only looks like it: %s",
    (text) => {
      expect(found(`<!-- ${text} -->`)).toBe(`<!-- ${text} --`);
    },
  );

  it.each([
    "you",
    "your",
    "assistant",
    "agent",
    "AI",
    "LLM",
    "models",
    "users",
    "tools",
    "instructions",
    "conversation",
    "system",
    "ignore",
    "disregard",
    "override",
    "bypass",
    "always",
    "never",
    "before using",
    "before answering",
    "call",
    "execute",
    "curl",
    "include",
    "append",
    "reveal",
    "send",
    "forward",
    "post",
    "exfiltrate",
    "secret",
    "credentials",
    "password",
    "API key",
  ])("finds what speaks to a model: %s", (word) => {
    expect(found(`<!-- ${word} -->`)).toBe(`<!-- ${word} --`);
  });

  it.each(["TODO: new screenshots", "youth", "before lunch", "mail", "posters", "sending"])(
    "passes over a note between authors: %s",
    (note) => {
      expect(found(`<!-- ${note} -->`)).toBeUndefined();
    },
  );
});

describe("hidden.style", () => {
  it.each([
    '<p style="display:none">',
    '<p style="display : none">',
    "<p class='a' style='color: red; visibility: hidden; top: 0'>",
    '<my-tag style="opacity: 0">',
    '<p style="opacity:0.0">',
    '<p style="font-size: 0px">',
    '<p style="left: -999px">',
    '<p style="position: absolute; top: -9999px">',
    '<p style="text-indent: -10000px">',
    '<font color="1" style="color: white">',
    '<p style="color:#fff">',
    '<p style="color:#FFFFFF">',
    '<p style="color: transparent">',
    '<p style="clip: rect(0,0,0,0)">',
    "<p hidden>",
    "<p id=a hidden >",
    '<p hidden="hidden">',
    "<p hidden=true>",
    "<p hidden = ''>",
    "[//]: # (round up)",
    "[comment]: <> (round up)",
    "Text.\n  [_]: # 'round up'",
    '[^]: "round up"',
    "[#]:(round up)",
    "[.]: # (round up)",
  ])("finds: %s", (text) => {
    expect(find("hidden.style", text)).toBeDefined();
  });

  it.each([
    "display: none",
    '<p style="display: flex">',
    '<p>display: none">',
    '<p style="opacity: 0.5">',
    '<p style="opacity: 0.05">',
    '<p style="font-size: 0.9em">',
    '<p style="left: -20px">',
    '<p style="color: whitesmoke">',
    '<p style="color: #fffff0">',
    '<p style="clip: rect(1px,0,0,0)">',
    '<p style="display: none"><img src="a.png">',
    '<p style="display: none"> <svg>',
    "<p class=hidden>",
    "<p hidden-xs>",
    "<p hidden=false>",
    "hidden>",
    "[a]: # (round up)",
    "[//]: # round up",
    "[//]: # (up",
    "See [//]: # (round up)",
    "    [//]: # (round up)",
  ])("passes: %s", (text) => {
    expect(find("hidden.style", text)).toBeUndefined();
  });

  it("ends with the tag, or with the line", () => {
    expect(find("hidden.style", 'A <b style="display:none"> B')).toEqual({ start: 2, end: 26 });
    expect(find("hidden.style", "A\n[//]: # (round up)\nB")).toEqual({ start: 2, end: 20 });
  });
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
