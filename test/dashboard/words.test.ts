import { describe, expect, it } from "vitest";
import { filterInWords } from "../../dashboard/src/parts/filter-words.ts";
import { readPairs, splitCommand } from "../../dashboard/src/parts/read-text.ts";
import type { ToolFilter } from "../../src/tool/tool-filter.ts";

describe("a command that somebody types", () => {
  it.each([
    ["npx -y server", ["npx", "-y", "server"]],
    ["  node   a.js  ", ["node", "a.js"]],
    ["node \"/my files/a b.js\" --name='it is'", ["node", "/my files/a b.js", "--name=it is"]],
    ['run "" x', ["run", "", "x"]],
    ['say "a \\"b\\" c" d\\ e', ["say", 'a "b" c', "d e"]],
    ['C:\\tools\\run.exe "C:\\my files\\x"', ["C:\\tools\\run.exe", "C:\\my files\\x"]],
    ["'a \\ \"b\"'", ['a \\ "b"']],
  ])("is split where a shell would: %s", (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  it("is refused if a quote stays open", () => {
    expect(() => splitCommand('node "a b')).toThrow('The command has an opening " without a closing one.');
  });
});

describe("lines of names and values", () => {
  it("are split at the first = or :, without empty lines", () => {
    expect(readPairs("A=1\n\n B = x=y:z \nAuthorization: Bearer ${secret:env:TOKEN}\nC=", "headers")).toEqual({
      A: "1",
      B: "x=y:z",
      Authorization: "Bearer ${secret:env:TOKEN}",
      C: "",
    });
    expect(readPairs(" \n", "headers")).toBe(undefined);
  });

  it.each(["nonsense", "=x", "A=1\nno name here"])("say which one is wrong: %j", (text) => {
    expect(() => readPairs(text, "environment")).toThrow(/^Line \d of the environment is not NAME=value: /);
  });
});

describe("a filter", () => {
  it.each<[ToolFilter, readonly string[]]>([
    [{ all: [] }, ["every tool"]],
    [{ any: [] }, ["no tool"]],
    [{ namespaces: ["github"] }, ["in the namespace github"]],
    [{ namespaces: ["a", "b", "c"] }, ["in the namespace a, b or c"]],
    [{ all: [{ tags: ["money"] }, { not: { ids: ["shop.break"] } }] }, ["tagged money", "not shop.break"]],
    [{ not: { any: [{ tags: ["x"] }, { deprecated: true }] } }, ["not (tagged x or deprecated)"]],
    [
      { any: [{ names: ["a"] }, { all: [{ tags: ["x"] }, { risks: ["low"] }] }] },
      ["named a, or (tagged x and of low risk)"],
    ],
    [{ sources: ["mcp", "function"] }, ["from an MCP server or a function"]],
    [{ ensembles: ["files"] }, ["of the server files"]],
    [{ categories: ["sales"] }, ["in the category sales"]],
    [{ capabilities: ["read_data"], match: "only" }, ["that can do nothing but read data"]],
    [{ capabilities: ["write_data", "financial"], match: "all" }, ["that can write data and move money"]],
    [{ tenant: "acme" }, ["of the tenant acme, or of none"]],
    [{ deprecated: false }, ["not deprecated"]],
    [{ ids: ["a.b", "a.c"] }, ["a.b or a.c"]],
    [{ ids: Array.from({ length: 20 }, (_, index) => `a.t${index}`) }, ["one of 20 tools"]],
  ])("is said in words: %j", (filter, words) => {
    expect(filterInWords(filter)).toEqual(words);
  });
});
