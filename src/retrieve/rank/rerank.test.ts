import { describe, expect, it } from "vitest";
import { memoryEngine } from "../../adapters/engines/memory.ts";
import { createCatalog } from "../../catalog/catalog.ts";
import { createHealth } from "../../observe/health.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { sampleTools } from "../../testing/sample-tools.ts";
import type { Tool } from "../../tool/tool.ts";
import type { RetrievalResult } from "../result.ts";
import { createRetriever, type Retriever, type RetrieverParts } from "../retriever.ts";
import { DEFAULT_SETTINGS } from "../settings.ts";

const clock = createManualClock();
const emit = (): void => {};

async function retrieverOf(tools: readonly Tool[], parts: Partial<RetrieverParts> = {}): Promise<Retriever> {
  const catalog = createCatalog({ engine: memoryEngine(), emit, clock });
  await catalog.upsert(tools);
  const health = createHealth({ clock, emit });
  return createRetriever({ catalog, health, sees: () => true, settings: DEFAULT_SETTINGS, emit, clock, ...parts });
}

const names = (result: RetrievalResult): readonly string[] => result.tools.map((found) => found.tool.name);

describe("reranking", () => {
  const prefers = (name: string) => ({
    model: "fixed",
    rerank: async (_query: string, tools: readonly Tool[]) => tools.map((entry) => (entry.name === name ? 1 : 0.2)),
  });
  const query = { context: { query: "email the customer about the refund" }, scoreThreshold: 0 };

  it("lets the reranker's score stand for the semantic one [000-4.2-rerank-score]", async () => {
    const retriever = await retrieverOf(sampleTools(), { reranker: prefers("create_user") });
    const result = await retriever.retrieve({ ...query, enableReranking: true });
    expect(result.tools[0]).toMatchObject({ tool: { name: "create_user" }, rerankScore: 1, signals: { semantic: 1 } });
    expect(result.tools[0]?.semanticScore).toBeLessThan(1);
    expect(result.rerankTimeMs).toBe(0);
    expect(names(await retriever.retrieve(query))[0]).not.toBe("create_user");
  });

  it("asks about the best candidates only, and keeps the others behind them [000-6.1-rerank-last]", async () => {
    const seen: string[] = [];
    const reranker = {
      model: "stern",
      rerank: async (_query: string, tools: readonly Tool[]) => {
        seen.push(...tools.map((entry) => entry.name));
        return tools.map(() => 0.01);
      },
    };
    const settings = { ...DEFAULT_SETTINGS, rerankTopK: 2, enableIntentClassification: false };
    const retriever = await retrieverOf(sampleTools(), { reranker, settings });
    const plain = names(await retriever.retrieve(query));
    const result = await retriever.retrieve({ ...query, enableReranking: true });
    expect(seen).toEqual(plain.slice(0, 2));
    expect(names(result).slice(0, 2).sort()).toEqual(plain.slice(0, 2).sort());
    expect(result.tools[2]).not.toHaveProperty("rerankScore");
  });

  it.each([
    ["throws", async () => Promise.reject(new Error("503 from the model"))],
    ["answers too few", async () => [1]],
    ["answers too many", async (_query: string, tools: readonly Tool[]) => [0, ...tools.map(() => 1)]],
    ["answers no numbers", async (_query: string, tools: readonly Tool[]) => tools.map(() => Number.NaN)],
  ])("keeps the search's order and says so where the reranker %s [000-6.1-rerank-failure]", async (_what, rerank) => {
    const retriever = await retrieverOf(sampleTools(), { reranker: { model: "broken", rerank } });
    const result = await retriever.retrieve({ ...query, enableReranking: true });
    expect(result.tools).toEqual((await retriever.retrieve(query)).tools);
    expect(result.rerankError).toMatch(/^The reranker broken failed/);
  });

  it("does not wait for a slow reranker, and cancels it", async () => {
    const own = createManualClock();
    let cancelled = false;
    const reranker = {
      model: "slow",
      rerank: (_query: string, _tools: readonly Tool[], options?: { readonly signal?: AbortSignal }) => {
        options?.signal?.addEventListener("abort", () => (cancelled = true));
        return new Promise<never>(() => {});
      },
    };
    const settings = { ...DEFAULT_SETTINGS, rerankTimeoutMs: 250 };
    const retriever = await retrieverOf(sampleTools(), { reranker, settings, clock: own });
    const waiting = retriever.retrieve({ ...query, enableReranking: true });
    while (own.pending === 0) await own.advance(0);
    await own.advance(250);
    const result = await waiting;
    expect(result.tools).toEqual((await retriever.retrieve(query)).tools);
    expect(result.rerankError).toBe(
      "The reranker slow failed, so the order is the search's own: no answer within 250 ms. Raise reranker.timeout_ms to wait longer.",
    );
    expect([cancelled, own.pending]).toEqual([true, 0]);
  });

  it("says so where there is no reranker", async () => {
    const retriever = await retrieverOf(sampleTools());
    expect((await retriever.retrieve({ ...query, enableReranking: true })).rerankError).toMatch(
      /no reranker is configured/,
    );
    expect(await retriever.retrieve(query)).not.toHaveProperty("rerankError");
  });
});
