import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shippedTiers, TIERS } from "../adapters/embedders/shipped-tiers.ts";
import { memoryEngine } from "../adapters/engines/memory.ts";
import { type Catalog, createCatalog } from "../catalog/catalog.ts";
import { createHealth } from "../observe/health.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import type { ToolQuery } from "./query.ts";
import type { ScoredTool } from "./result.ts";
import { createRetriever } from "./retriever.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const clock = createManualClock();
const emit = (): void => {};

const names = (tools: readonly ScoredTool[]): readonly string[] => tools.map((found) => found.tool.name);

describe.each(TIERS)("retrieval over five business tools, ranked by the tier %s", (tier) => {
  let catalog: Catalog;
  beforeAll(async () => {
    catalog = createCatalog({ engine: memoryEngine(), tiers: shippedTiers({ tier, cache: false }, emit), emit, clock });
    await catalog.upsert(sampleTools());
    await catalog.settled();
  });
  afterAll(() => catalog.close());

  async function retrieve(query: ToolQuery): Promise<readonly ScoredTool[]> {
    const health = createHealth({ clock, emit });
    const retriever = createRetriever({ catalog, health, sees: () => true, settings: DEFAULT_SETTINGS, emit, clock });
    const result = await retriever.retrieve(query);
    expect(result.tier).toBe(tier);
    return result.tools;
  }

  it.each([
    ["run a query on the database", "query_database"],
    ["How many orders did we get last month?", "query_database"],
    ["look up customers in the database", "query_database"],
    ["send an email to the team", "send_email"],
    ["email bob@example.com that I am late", "send_email"],
    ["send a message to our recipients", "send_email"],
    ["create a user account for the new hire", "create_user"],
    ["set up an account for a new colleague", "create_user"],
    ["the customer wants a refund", "process_refund"],
    ["give them their money back for order 77", "process_refund"],
    ["refund a payment", "process_refund"],
    ["make me a sales report for last quarter", "generate_report"],
    ["I need the revenue numbers as a PDF", "generate_report"],
  ])("answers %j with %s first [000-12.2-top-1]", async (query, expected) => {
    const tools = await retrieve({ context: { query } });
    expect(names(tools)[0]).toBe(expected);
  });

  it("finds every tool that a compound task needs, before any it does not [000-12.2-compound]", async () => {
    const query = "pull last month's sales from the database and email the report to the team";
    const found = names(await retrieve({ context: { query } }));
    expect(found.slice(0, 3).sort()).toEqual(["generate_report", "query_database", "send_email"]);
  });

  it("scores everything low for a request that no tool serves [000-12.2-irrelevant]", async () => {
    const query = "what is the weather in Paris";
    for (const found of await retrieve({ context: { query }, scoreThreshold: 0 })) {
      expect(found.semanticScore).toBeLessThan(0.5);
    }
    expect(await retrieve({ context: { query }, scoreThreshold: 0.5 })).toEqual([]);
  });

  it("returns nothing for a request that every tool is far from", async () => {
    const query = "How long do I have to roast a chicken with potatoes, carrots and rosemary until the skin is crisp?";
    expect(await retrieve({ context: { query } })).toEqual([]);
  });

  it("ranks a tool lower once it failed in this conversation [000-12.2-failed]", async () => {
    const query = "refund the customer's payment and send an email";
    const before = names(await retrieve({ context: { query }, scoreThreshold: 0 }));
    const after = names(await retrieve({ context: { query, toolsFailed: ["process_refund"] }, scoreThreshold: 0 }));
    expect(before[0]).toBe("process_refund");
    expect(after.indexOf("process_refund")).toBeGreaterThan(0);
  });
});
