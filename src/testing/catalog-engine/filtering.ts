import assert from "node:assert/strict";
import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { type ToolFilter, toPredicate } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";
import {
  candidateIds,
  dice,
  type EngineClaims,
  idsOf,
  randomFilter,
  randomTools,
  searchAll,
  toolNamed,
  unit,
  vectorsOf,
} from "./fixtures.ts";

/** Requires that an engine filters exactly like `toPredicate`, before it cuts the results. */
export const filteringClaims: EngineClaims = {
  "applies every kind of filter as toPredicate does": async (engine) => {
    const tools = randomTools(40, dice(1));
    await engine.put(tools);
    const filters: readonly ToolFilter[] = [
      { ids: idsOf(tools).slice(3, 9) },
      { names: tools.slice(5, 7).map(({ name }) => name) },
      { ensembles: ["crew", "it's"] },
      { namespaces: tools.slice(0, 2).map(({ namespace }) => namespace) },
      { sources: ["mcp", "openapi"] },
      { tags: ["it's", 'say "hi"', "a\u0000b", "\uD800"] },
      { tags: ["a"] },
      { tags: ["\uFFFD"] },
      { tags: ["a\u0000b", ...Array.from({ length: 200 }, (_, index) => `other ${index}`)] },
      { categories: ["Finance", "a\u0000b"] },
      { risks: ["high", "critical"] },
      { capabilities: ["financial", "read_data"], match: "any" },
      { capabilities: ["financial", "read_data"], match: "all" },
      { capabilities: ["financial", "read_data", "write_data", "external_api"], match: "only" },
      ...(["any", "all", "only"] as const).map((match) => ({ capabilities: [], match })),
      { tenant: "acme" },
      { tenant: "null" },
      { tenant: "7" },
      { deprecated: true },
      { deprecated: false },
      { all: [] },
      { any: [] },
      { not: { all: [] } },
      { not: { any: [] } },
      { ids: [] },
      { tags: [] },
    ];
    for (const filter of filters) await assertFilters(engine, tools, filter);
  },

  "applies nested filters as toPredicate does": async (engine) => {
    const chance = dice(2);
    const tools = randomTools(60, chance);
    await engine.put(tools);
    for (let round = 0; round < 60; round++) await assertFilters(engine, tools, randomFilter(tools, chance, 4));
  },

  "takes filters that are very long, very wide or very deep": async (engine) => {
    const tools = randomTools(20, dice(3));
    await engine.put(tools);
    const [first] = idsOf(tools);
    const many = Array.from({ length: 50_000 }, (_, index) => `no.tool_${index}`);
    await assertFilters(engine, tools, { ids: [...many, first ?? ""] });
    await assertFilters(engine, tools, {
      any: many.slice(0, 1_000).map((id) => ({ not: { ids: [id, first ?? ""] } })),
    });
    await assertFilters(engine, tools, { all: many.slice(0, 1_000).map((id) => ({ not: { ids: [id] } })) });
    let deep: ToolFilter = { deprecated: true };
    for (let depth = 0; depth < 100; depth++) {
      deep = depth % 2 ? { not: { any: [deep] } } : { all: [deep, { risks: ["low", "medium", "high"] }] };
    }
    await assertFilters(engine, tools, deep);
  },

  "filters before it cuts, by words and by vectors": async (engine) => {
    const near = Array.from({ length: 30 }, (_, index) =>
      toolNamed(`near_${index}`, { description: "Search search search invoices." }),
    );
    const far = toolNamed("far", { namespace: "other", description: "Among many other things, can search for files." });
    await engine.put([...near, far]);
    await engine.putVectors("m", [...near.map((tool) => vectorsOf(tool)), vectorsOf(far, unit(-1, 1))]);
    const filter: ToolFilter = { namespaces: ["other"] };
    const byWords = await engine.search({ limit: 1, texts: ["search invoices"], filter });
    assert.deepEqual(candidateIds(byWords), ["other.far"]);
    const vectors = [{ model: "m", vector: unit(1, 0) }];
    const byVector = await engine.search({ limit: 1, texts: [], vectors, filter });
    assert.deepEqual(candidateIds(byVector), ["other.far"]);
    assert.deepEqual([byVector.accepted, byVector.total, byVector.embedded], [1, 31, [1]]);
    const unfiltered = await engine.search({ limit: 1, texts: ["search invoices"], vectors });
    assert.deepEqual([unfiltered.accepted, unfiltered.total], [31, 31]);
    assert.deepEqual(candidateIds(unfiltered), ["default.near_0"]);
  },

  "counts and puts forward nothing but visible tools, and of these what the filter accepts": async (engine) => {
    const chance = dice(4);
    const tools = randomTools(60, chance);
    await engine.put(tools);
    const embedded = tools.slice(0, 40);
    const vectors = embedded.map((tool) => vectorsOf(tool, chance.vector(4)));
    await engine.putVectors("m", vectors);
    for (let round = 0; round < 40; round++) {
      const [visible, filter] = [randomFilter(tools, chance, 2), randomFilter(tools, chance, 2)];
      const seen = tools.filter(toPredicate(visible));
      const accepted = seen.filter(toPredicate(filter));
      const query = { visible, vectors: [{ model: "m", vector: chance.vector(4) }], besides: idsOf(tools) };
      const answer = await searchAll(engine, { ...query, filter });
      assert.deepEqual(candidateIds(answer), [...idsOf(accepted)].sort());
      assert.deepEqual([answer.accepted, answer.total], [accepted.length, seen.length]);
      assert.deepEqual(answer.embedded, [accepted.filter((tool) => embedded.includes(tool)).length]);
      assert.deepEqual(candidateIds(await searchAll(engine, query)), [...idsOf(seen)].sort());
    }
  },
};

async function assertFilters(engine: CatalogEngine, tools: readonly Tool[], filter: ToolFilter): Promise<void> {
  const said = JSON.stringify(filter).slice(0, 2_000);
  const expected = [...idsOf(tools.filter(toPredicate(filter)))].sort();
  assert.deepEqual(idsOf((await engine.list({ filter })).tools), expected, said);
  assert.equal(await engine.count({ filter }), expected.length, said);
  const answer = await searchAll(engine, { filter, besides: idsOf(tools) });
  assert.deepEqual(candidateIds(answer), expected, said);
  assert.deepEqual([answer.accepted, answer.total], [expected.length, tools.length], said);
}
