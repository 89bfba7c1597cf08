import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryEngine } from "../adapters/engines/memory.ts";
import { createCatalog } from "../catalog/catalog.ts";
import { createHealth } from "../observe/health.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { CAPABILITIES, TOOL_SOURCES, type Dependency, type Tool } from "../tool/tool.ts";
import type { ToolQuery } from "./query.ts";
import type { RetrievalResult } from "./result.ts";
import { createRetriever, type Retriever } from "./retriever.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import { repeats } from "../../test/kit/effort.ts";

const clock = createManualClock();
const emit = (): void => {};
const vocabulary = ["send", "mail", "order", "pizza", "user", "table", "report", "file", "refund"];
const namespaces = ["alpha", "beta", "gamma"];

const words = (minLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...vocabulary), { minLength, maxLength: 6 }).map((list) => list.join(" "));

/** Up to 14 tools `t0`, `t1` … over few words and namespaces, so that they match, clash and depend on each other often. */
const toolsArbitrary: fc.Arbitrary<readonly Tool[]> = fc
  .array(
    fc.record({
      text: words(2),
      namespace: fc.constantFrom(...namespaces),
      tags: fc.uniqueArray(fc.constantFrom("email", "query", "archive"), { maxLength: 2 }),
      source: fc.constantFrom(...TOOL_SOURCES),
      capabilities: fc.uniqueArray(fc.constantFrom(...CAPABILITIES), { maxLength: 2 }),
      deprecated: fc.boolean(),
      links: fc.array(
        fc.tuple(fc.nat(13), fc.constantFrom("requires" as const, "suggests" as const, "conflicts" as const)),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 14 },
  )
  .map((drafts) =>
    drafts.map(({ text, links, ...draft }, index) => {
      const dependencies: Dependency[] = links.flatMap(([target, type]) => {
        const other = drafts[target];
        return other === undefined || target === index ? [] : [{ tool: `${other.namespace}.t${target}`, type }];
      });
      const description = `Tool for ${text}.`;
      return defineTool({ ...draft, name: `t${index}`, description, dependencies, parameters: { type: "object" } });
    }),
  );

const queryArbitrary: fc.Arbitrary<ToolQuery> = fc.record(
  {
    context: fc.record(
      {
        query: words(1),
        userCapabilities: fc.subarray([...CAPABILITIES]),
        toolsFailed: fc.subarray(["t0", "t1", "alpha.t2"]),
        toolsAlreadyUsed: fc.subarray(["t0", "t3", "beta.t4"]),
        conversationSummary: words(1),
      },
      { requiredKeys: ["query"] },
    ),
    limit: fc.integer({ min: 1, max: 6 }),
    scoreThreshold: fc.constantFrom(0, 0.2, 0.5),
    namespaces: fc.subarray(namespaces),
    excludedCapabilities: fc.subarray([...CAPABILITIES], { maxLength: 2 }),
    sources: fc.subarray([...TOOL_SOURCES], { minLength: 3 }),
    excludeDeprecated: fc.boolean(),
    diversityFactor: fc.double({ min: 0, max: 1, noNaN: true }),
    explain: fc.boolean(),
  },
  { requiredKeys: ["context"] },
);

async function retrieverOf(tools: readonly Tool[], seen: (tool: Tool) => boolean): Promise<Retriever> {
  const catalog = createCatalog({ engine: memoryEngine(), emit, clock });
  await catalog.upsert(tools);
  const health = createHealth({ clock, emit });
  return createRetriever({ catalog, health, sees: seen, settings: DEFAULT_SETTINGS, emit, clock });
}

/** Runs a claim over many catalogs and queries; one tool in each is hidden from the caller. */
async function holds(
  claim: (result: RetrievalResult, query: ToolQuery, retriever: Retriever) => unknown,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(toolsArbitrary, queryArbitrary, async (tools, query) => {
      const retriever = await retrieverOf(tools, (tool) => tool.name !== "t5");
      await claim(await retriever.retrieve(query), query, retriever);
    }),
    { numRuns: repeats(150) },
  );
}

describe("whatever the catalog and the query", () => {
  it("scores lie in [0, 1]", () =>
    holds(({ tools }) => {
      for (const { score, semanticScore } of tools) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1 + 1e-9);
        expect(semanticScore).toBeGreaterThanOrEqual(0);
        expect(semanticScore).toBeLessThanOrEqual(1);
      }
    }));

  it("there are no more tools than the limit, but for those required, and none twice", () =>
    holds(({ tools }, { limit = 5 }) => {
      expect(tools.filter((found) => found.requiredBy === undefined).length).toBeLessThanOrEqual(limit);
      expect(new Set(tools.map((found) => found.tool.id)).size).toBe(tools.length);
      const ids = tools.map((found) => found.tool.id);
      for (const { requiredBy } of tools) if (requiredBy !== undefined) expect(ids).toContain(requiredBy);
    }));

  it("no tool is returned that a filter refuses, also not as a dependency", () =>
    holds(({ tools }, query) => {
      for (const { tool } of tools) {
        expect(tool.name).not.toBe("t5");
        if (query.namespaces !== undefined) expect(query.namespaces).toContain(tool.namespace);
        if (query.sources !== undefined) expect(query.sources).toContain(tool.source);
        if (query.excludeDeprecated !== false) expect(tool.deprecated).toBe(false);
        for (const capability of tool.capabilities) {
          expect(query.excludedCapabilities ?? []).not.toContain(capability);
          if (query.context.userCapabilities !== undefined)
            expect(query.context.userCapabilities).toContain(capability);
        }
      }
    }));

  it("no two tools returned conflict", () =>
    holds(({ tools }) => {
      const ids = new Set(tools.map((found) => found.tool.id));
      for (const { tool } of tools) {
        for (const { tool: other, type } of tool.dependencies)
          if (type === "conflicts") expect(ids.has(other)).toBe(false);
      }
    }));

  it("the same query gives the same answer", () =>
    holds(async (result, query, retriever) => {
      expect((await retriever.retrieve(query)).tools).toEqual(result.tools);
    }));

  it("the order of registration changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(toolsArbitrary, queryArbitrary, async (tools, query) => {
        const ids = async (list: readonly Tool[]): Promise<readonly string[]> => {
          const retriever = await retrieverOf(list, () => true);
          return (await retriever.retrieve(query)).tools.map((found) => found.tool.id);
        };
        expect(await ids(tools.toReversed())).toEqual(await ids(tools));
      }),
      { numRuns: repeats(100) },
    );
  });
});
