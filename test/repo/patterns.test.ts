import { describe, expect, it } from "vitest";
import { files, read } from "./project.ts";

/**
 * Regular expressions that are made while the program runs, and why none of them can hang it. Patterns from outside are compared by `starred`
 * and `matchPatterns` of guard/pattern.ts, or run by RE2 (adapters/re2.ts): JavaScript's own engine backtracks.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/tool/schema/keywords.ts": "checks the syntax; the validator runs it on a thread with a time limit",
  "src/adapters/validators/json-schema/formats.ts":
    "checks the syntax of a text that should be a pattern; it never runs",
  "src/adapters/audit/file/segment-writer.ts": "the number of digits is a constant",
  "src/adapters/sources/mcp/oauth/credentials.ts": "the name is one of two in the same file",
  "src/guard/scan/rules/encoded.ts": "the expressions are a table in the same file",
  "src/guard/scan/rules/phrases.ts": "the phrases are our own tables",
  "src/errors/visible-text.ts": "made of constants: the marks that a program itself writes, and our own table",
  "src/tool/split-words.ts": "a constant, made when it is first needed",
};

const MAKES = /\bRegExp\(|(?<receiver>\w*)\)?\.(?<method>match|matchAll|search)\((?<argument>[^,()]*)/g;

/** Receivers whose `match` or `search` is not that of a text. */
const OTHERS = /^(?:router|denied|allowed|Effect|assert|string|engine|lexical|index|local)$/;

/** The calls of a program that make a regular expression of something while it runs. */
function madeWhileRunning(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  return Array.from(code.matchAll(MAKES)).flatMap(({ 0: call, index, groups = {} }) => {
    const { receiver = "", method, argument = "" } = groups;
    const isMade =
      method === undefined
        ? !isAtTopLevel(code.slice(0, index))
        : !OTHERS.test(receiver) && !/^\s*(?:\/|[A-Z][A-Z\d_]*$|$)/.test(argument);
    return isMade ? [call] : [];
  });
}

/** Whether what follows belongs to a constant that is made when the module is loaded: nothing from outside is known then. */
function isAtTopLevel(before: string): boolean {
  const lines = before.split("\n");
  const declaration = lines.slice(lines.findLastIndex((line) => /^\S/.test(line))).join("\n");
  return /^(?:export )?const /.test(declaration) && !declaration.includes("=>");
}

describe("regular expressions", () => {
  it.each([
    ["const make = (text) => new RegExp(text);", ["RegExp("]],
    ["function make(text) {\n  const A = 1;\n  return RegExp(`^${text}$`);\n}", ["RegExp("]],
    ["const b = text.match(pattern);", ["text.match(pattern"]],
    ["const c = names.some((name) => name.search(wanted) >= 0);", ["name.search(wanted"]],
    ["const MARK = new RegExp(`^${WORD} x`, flags);", []],
    ["const TABLE = {\n  one: new RegExp(`^${WORD} x`),\n};", []],
    ["text.match(/a+/) ?? text.matchAll(WORDS);", []],
    ["index.search(probe, { limit: 1 }); engine.search({ limit: 1 });", []],
  ])("are looked for in %s", (code, found) => expect(madeWhileRunning(code)).toEqual(found));

  it("are constants: patterns from outside are compared in linear time", () => {
    const sources = files("src/**/*.ts").filter((path) => !/\.test\.ts$|\.contract\.ts$|^src\/testing\//.test(path));
    const found = sources.flatMap((path) => madeWhileRunning(read(path)).map((call) => ({ path, call })));
    expect(found.filter(({ path }) => EXCEPTIONS[path] === undefined)).toEqual([]);
    // An exception that nothing needs any more is removed.
    expect(Object.keys(EXCEPTIONS).filter((path) => !found.some((each) => each.path === path))).toEqual([]);
  });
});
