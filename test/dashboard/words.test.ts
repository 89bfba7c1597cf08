import { describe, expect, it } from "vitest";
import { filterInWords } from "../../dashboard/src/parts/filter-words.ts";
import type { ToolFilter } from "../../src/tool/tool-filter.ts";

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
