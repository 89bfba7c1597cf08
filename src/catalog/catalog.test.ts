import { describe, expect, it } from "vitest";
import { openCatalog, searchCatalog } from "../../test/catalog/search-catalog.ts";
import { memoryEngine } from "../adapters/engines/memory.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { type Catalog, type CatalogParts, createCatalog } from "./catalog.ts";
import type { CatalogEngine } from "./catalog-engine.port.ts";

const all = { limit: 10 };

function tool(name: string, description = `Does ${name} for people.`, namespace = "default"): Tool {
  return defineTool({ name, namespace, description, parameters: { type: "object", properties: {} } });
}

function parts(engine: CatalogEngine = memoryEngine()): CatalogParts {
  return { engine, clock: createManualClock(), emit: () => {} };
}

async function names(catalog: Catalog, text: string): Promise<string[]> {
  return (await searchCatalog(catalog, text, all)).hits.map((hit) => hit.tool.name);
}

describe("catalog", () => {
  it("finds a tool by its words, best first, with a score worth showing [000-5.2-embedder]", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert(sampleTools());
    const { hits, candidateCount, filteredCount } = await searchCatalog(catalog, "refund the customer's order", all);
    expect(hits[0]?.tool.name).toBe("process_refund");
    expect(hits[0]?.semanticScore).toBeGreaterThan(0.8);
    expect([candidateCount, filteredCount]).toEqual([5, 0]);
    expect(hits[0]?.matchedTerms()[0]).toMatchObject({
      term: "refund",
      fields: ["name", "description", "tags", "parameterDescriptions"],
    });
  });

  it.each(["refund", "query_database", "process_refund"])("is sure of a short request: %s", async (text) => {
    const catalog = await openCatalog(parts());
    await catalog.upsert(sampleTools());
    const { hits } = await searchCatalog(catalog, text, all);
    expect(hits[0]?.semanticScore).toBeGreaterThan(0.95);
  });

  it("finds nothing for a question about the weather among business tools", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert(sampleTools());
    for (const text of ["What's the weather like in Paris?", "Will it rain tomorrow?", "weather Tokyo"]) {
      const { hits } = await searchCatalog(catalog, text, all);
      expect(hits.filter((hit) => hit.semanticScore >= 0.5)).toEqual([]);
    }
  });

  it("forgets the words of a replaced tool", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert([tool("thing", "Talks about elephants.")]);
    await catalog.upsert([tool("thing", "Talks about giraffes.")]);
    expect(await names(catalog, "elephants")).toEqual([]);
    expect(await names(catalog, "giraffes")).toEqual(["thing"]);
    expect(catalog.size).toBe(1);
  });

  it("filters before it cuts, and counts both sides [000-4.2-filters-first] [000-4.2-counts]", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert([
      tool("mail_a", "Mail, mail, mail."),
      tool("mail_b", "Mail and other things."),
      tool("other"),
    ]);
    const result = await searchCatalog(catalog, "mail", { limit: 1, filter: { not: { names: ["mail_a"] } } });
    expect(result.hits.map((hit) => hit.tool.name)).toEqual(["mail_b"]);
    expect([result.candidateCount, result.filteredCount]).toEqual([2, 1]);
  });

  it("opens by itself at the first use", async () => {
    const catalog = createCatalog(parts());
    await catalog.upsert([tool("first")]);
    expect([catalog.opened, catalog.size]).toEqual([true, 1]);
  });

  it("lets a caller stop waiting for the opening without spoiling it for others", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const engine = memoryEngine();
    const catalog = createCatalog(parts({ ...engine, open: () => promise }));
    const controller = new AbortController();
    const impatient = catalog.open({ signal: controller.signal });
    const patient = catalog.open();
    controller.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    resolve();
    await patient;
    expect(catalog.opened).toBe(true);
  });

  it("applies two changes of one tool in the order they were asked for, however long the first takes", async () => {
    const engine = memoryEngine();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow: CatalogEngine = {
      ...engine,
      async put(tools, options) {
        if (tools[0]?.description === "The first text.") await promise;
        return engine.put(tools, options);
      },
    };
    const catalog = await openCatalog(parts(slow));
    const first = catalog.upsert([tool("thing", "The first text.")]);
    const second = catalog.upsert([tool("thing", "The second text.")]);
    await searchCatalog(catalog, "anything", all);
    resolve();
    await Promise.all([first, second]);
    expect((await engine.list()).tools[0]?.description).toBe("The second text.");
  });

  it("stores nothing and finds nothing of an upsert whose engine refuses", async () => {
    const engine = memoryEngine();
    const refusing = { ...engine, put: () => Promise.reject(new Error("disk full")) };
    const catalog = await openCatalog(parts(refusing));
    await expect(catalog.upsert([tool("first")])).rejects.toThrow("disk full");
    expect(catalog.size).toBe(0);
    expect(await names(catalog, "first")).toEqual([]);
  });
});
