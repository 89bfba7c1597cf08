import { describe, expect, it } from "vitest";
import { memory } from "../adapters/stores/memory.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { type Catalog, type CatalogParts, createCatalog, openCatalog } from "./catalog.ts";
import type { ToolStore } from "./tool-store.port.ts";

const all = { limit: 10, accept: () => true };

function tool(name: string, description = `Does ${name} for people.`, namespace = "default"): Tool {
  return defineTool({ name, namespace, description, parameters: { type: "object", properties: {} } });
}

function parts(store: ToolStore = memory()): CatalogParts {
  return { store, clock: createManualClock(), emit: () => {} };
}

async function names(catalog: Catalog, text: string): Promise<string[]> {
  return (await catalog.search(text, all)).hits.map((hit) => hit.tool.name);
}

describe("catalog", () => {
  it("finds a tool by its words, best first, with a score worth showing [000-5.2-embedder]", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert(sampleTools());
    const { hits, candidateCount, filteredCount } = await catalog.search("refund the customer's order", all);
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
    const { hits } = await catalog.search(text, all);
    expect(hits[0]?.semanticScore).toBeGreaterThan(0.95);
  });

  it("finds nothing for a question about the weather among business tools", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert(sampleTools());
    for (const text of ["What's the weather like in Paris?", "Will it rain tomorrow?", "weather Tokyo"]) {
      const { hits } = await catalog.search(text, all);
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

  it("filters before it cuts, asks about each tool once, and counts both sides [000-4.2-filters-first] [000-4.2-counts]", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert([
      tool("mail_a", "Mail, mail, mail."),
      tool("mail_b", "Mail and other things."),
      tool("other"),
    ]);
    const asked: string[] = [];
    const result = await catalog.search("mail", {
      limit: 1,
      accept({ name }) {
        asked.push(name);
        return name !== "mail_a";
      },
    });
    expect(result.hits.map((hit) => hit.tool.name)).toEqual(["mail_b"]);
    expect([result.candidateCount, result.filteredCount]).toEqual([2, 1]);
    expect(asked.sort()).toEqual(["mail_a", "mail_b", "other"]);
  });

  it("opens by itself at the first use", async () => {
    const catalog = createCatalog(parts());
    await catalog.upsert([tool("first")]);
    expect([catalog.opened, catalog.size]).toEqual([true, 1]);
  });

  it("lets a caller stop waiting for the opening without spoiling it for others", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const store = memory();
    const catalog = createCatalog(parts({ ...store, open: () => promise }));
    const controller = new AbortController();
    const impatient = catalog.open({ signal: controller.signal });
    const patient = catalog.open();
    controller.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    resolve();
    await patient;
    expect(catalog.opened).toBe(true);
  });

  it("knows tools by id and by bare name", async () => {
    const catalog = await openCatalog(parts());
    await catalog.upsert([tool("search", "Finds things of a.", "a"), tool("search", "Finds things of b.", "b")]);
    expect(catalog.get("a.search")?.namespace).toBe("a");
    expect(catalog.named("search").map(({ id }) => id)).toEqual(["a.search", "b.search"]);
    await catalog.upsert([tool("search", "Finds a, better.", "a")]);
    expect(catalog.named("search")).toHaveLength(2);
    await catalog.upsert([{ ...tool("find", "Finds things of a.", "a"), id: "a.search" }]);
    expect(catalog.named("search").map(({ id }) => id)).toEqual(["b.search"]);
    await catalog.delete(["a.search", "b.search"]);
    expect(catalog.named("search")).toEqual([]);
    expect([...catalog.all()]).toEqual([]);
  });

  it("applies two changes of one tool in the order they were asked for, however long the first takes", async () => {
    const store = memory();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow: ToolStore = {
      ...store,
      async put(tools, options) {
        if (tools[0]?.description === "The first text.") await promise;
        return store.put(tools, options);
      },
    };
    const catalog = await openCatalog(parts(slow));
    const first = catalog.upsert([tool("thing", "The first text.")]);
    const second = catalog.upsert([tool("thing", "The second text.")]);
    await catalog.search("anything", all);
    resolve();
    await Promise.all([first, second]);
    expect(catalog.get("default.thing")?.description).toBe("The second text.");
    expect((await store.list())[0]?.description).toBe("The second text.");
  });

  it("stores nothing and finds nothing of an upsert whose store refuses", async () => {
    const store = memory();
    const refusing = { ...store, put: () => Promise.reject(new Error("disk full")) };
    const catalog = await openCatalog(parts(refusing));
    await expect(catalog.upsert([tool("first")])).rejects.toThrow("disk full");
    expect(catalog.size).toBe(0);
    expect(await names(catalog, "first")).toEqual([]);
  });
});
