import { describe, expect, it } from "vitest";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { drawSizes } from "./draw-sizes.ts";
import type { SetQuery } from "./read-set.ts";

/** Eight servers of 12 tools each. */
const TOOLS: ReadonlyMap<string, Tool> = new Map(
  ["mail", "files", "weather", "maps", "music", "notes", "shop", "travel"].flatMap((namespace) =>
    Array.from({ length: 12 }, (_, at) => [
      `${namespace}/${at}`,
      defineTool({
        namespace,
        name: `${namespace}_${at}`,
        description: "Does one thing well.",
        parameters: { type: "object" },
      }),
    ]),
  ),
);

function query(id: string, relevant: readonly string[], more: Partial<SetQuery> = {}): SetQuery {
  return { id, query: `request ${id}`, relevant, alsoOk: [], history: [], style: undefined, ...more };
}

const countOf = (namespaces: readonly string[]): number =>
  [...TOOLS.values()].filter(({ namespace }) => namespaces.includes(namespace)).length;

describe("drawSizes", () => {
  const drawn = drawSizes(TOOLS, [query("1", ["mail/3"]), query("2", []), query("3", ["maps/1", "music/2"])]);

  it("asks each query of catalogs of one to four servers, within each size", () => {
    const bounds = new Map([
      [20, [1, 20]],
      [50, [21, 50]],
    ]);
    expect(new Set(drawn.map(({ size }) => size))).toEqual(new Set(bounds.keys()));
    for (const { size, namespaces } of drawn) {
      const [low = 0, high = 0] = bounds.get(size) ?? [];
      expect(countOf(namespaces)).toBeGreaterThanOrEqual(low);
      expect(countOf(namespaces)).toBeLessThanOrEqual(high);
      expect(new Set(namespaces).size).toBeLessThanOrEqual(4);
    }
  });

  it("keeps the servers that serve the query, or leaves all of them out and expects nothing", () => {
    const [serving = [], without = []] = [true, false].map((isServed) =>
      drawn.filter(({ id, relevant }) => id === "1" && relevant.length > 0 === isServed),
    );
    expect(serving.map(({ namespaces }) => namespaces.includes("mail"))).toEqual([true, true]);
    expect(without.map(({ namespaces }) => namespaces.includes("mail"))).toEqual([false, false]);
    expect(drawn.filter(({ id, size, relevant }) => id === "3" && size === 20 && relevant.length > 0)).toEqual([]);
  });

  it("draws the same for the same files", () => {
    const again = drawSizes(TOOLS, [query("1", ["mail/3"]), query("2", []), query("3", ["maps/1", "music/2"])]);
    expect(again).toEqual(drawn);
  });

  it("takes no server for a stranger that has a tool of the same name, or shares a word of its name", () => {
    const twin = defineTool({
      namespace: "post",
      name: "mail_3",
      description: "Does one thing well.",
      parameters: { type: "object" },
    });
    const near = defineTool({
      namespace: "mail-archive",
      name: "find",
      description: "Does one thing well.",
      parameters: { type: "object" },
    });
    const tools = new Map([...TOOLS, ["post/0", twin], ["mail-archive/0", near]]);
    const queries = Array.from({ length: 60 }, (_, at) => query(String(at), ["mail/3"]));
    const strangers = drawSizes(tools, queries).filter(({ relevant }) => relevant.length === 0);
    expect(strangers.length).toBeGreaterThan(0);
    expect(strangers.flatMap(({ namespaces }) => namespaces)).not.toContain("post");
    expect(strangers.flatMap(({ namespaces }) => namespaces)).not.toContain("mail-archive");
  });

  it("asks at most 600 queries, and all of a rare style", () => {
    const many = Array.from({ length: 900 }, (_, at) =>
      query(String(at), ["mail/3"], { style: at % 100 === 0 ? "rare" : "common" }),
    );
    const asked = drawSizes(TOOLS, many);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(600);
    expect(new Set(asked.filter(({ style }) => style === "rare").map(({ id }) => id)).size).toBe(9);
  });

  it("draws nothing from fewer than five namespaces", () => {
    const few = new Map([...TOOLS].filter(([id]) => /^(?:mail|files|maps)\//.test(id)));
    expect(drawSizes(few, [query("1", ["mail/3"])])).toEqual([]);
  });
});
