import { describe, expect, it } from "vitest";
import { type HttpDouble, startDouble, strictly } from "../../../test/doubles/http-double.ts";
import { relevance } from "../../../test/doubles/relevance.ts";
import { HF_KEY, teiDouble } from "../../../test/doubles/tei.ts";
import { rerankerContract, sampleTools } from "../../testing/index.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { check, crossEncoderReranker } from "./cross-encoder.ts";

/** `/v1/rerank` as Jina, vLLM, LocalAI and others offer it. */
function jinaDouble(toScore = relevance): Promise<HttpDouble> {
  const wrong = strictly(
    { model: { type: "string" }, query: { type: "string" }, documents: { type: "array", items: { type: "string" } } },
    ["model", "query", "documents"],
  );
  return startDouble(({ method, path, body }) => {
    if (method !== "POST" || path !== "/v1/rerank") return { status: 404, body: { detail: "Not Found" } };
    const problem = wrong(body);
    if (problem !== undefined) return { status: 422, body: { detail: problem } };
    const { model, query, documents } = body as { model: string; query: string; documents: readonly string[] };
    const results = documents.map((text, index) => ({
      index,
      document: { text },
      relevance_score: toScore(query, text),
    }));
    return { status: 200, body: { model, usage: { total_tokens: 1 }, results: results.toReversed() } };
  });
}

describe("a cross-encoder behind Text Embeddings Inference", () => {
  const make = async (settings = {}) => {
    const double = await teiDouble({ key: HF_KEY });
    const adapter = crossEncoderReranker({ apiKey: HF_KEY, apiBase: double.url, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of rerankerContract(make)) it(name, run);

  it("sends the texts to /rerank, 32 at once, and keeps the order [000-5.3-cross-encoder]", async () => {
    const { adapter, double, dispose } = await make();
    const tools = Array.from({ length: 70 }, (_, at) =>
      defineTool({
        name: `tool_${at}`,
        description: at === 40 ? "Sends an email." : "Does more.",
        parameters: { type: "object" },
      }),
    );
    const scores = await adapter.rerank("email", tools);
    expect(scores).toHaveLength(70);
    expect(scores.map((score, at) => (score > 0 ? at : -1)).filter((at) => at >= 0)).toEqual([40]);
    expect(double.requests.map(({ path }) => path)).toEqual(["/rerank", "/rerank", "/rerank"]);
    expect(double.requests[2]?.body).toMatchObject({ query: "email", truncate: true, raw_scores: false });
    await dispose();
  });

  it("tells doctor whether it works", async () => {
    const { double, dispose } = await make();
    expect(await check({ apiKey: HF_KEY, apiBase: double.url, model: "bge" })).toBe("cross_encoder/bge answers");
    await expect(check({ apiBase: double.url })).rejects.toMatchObject({ details: { field: "reranker.api_key" } });
    await dispose();
  });
});

describe("a cross-encoder behind a /v1 address", () => {
  const make = async () => {
    const double = await jinaDouble();
    const adapter = crossEncoderReranker({ apiBase: `${double.url}/v1`, model: "jina-reranker-v2" });
    return { adapter, dispose: () => double.close() };
  };
  for (const { name, run } of rerankerContract(make)) it(name, run);

  it("brings raw scores of a model to [0, 1], and keeps to it", async () => {
    const double = await jinaDouble((query, text) => 8 * relevance(query, text) - 4);
    const adapter = crossEncoderReranker({ apiBase: `${double.url}/v1/`, model: "raw", format: "jina" });
    const scores = await adapter.rerank("send an email", sampleTools());
    expect(Math.max(...scores)).toBeLessThan(1);
    expect(Math.min(...scores)).toBeGreaterThan(0);
    expect(scores.indexOf(Math.max(...scores))).toBe(1);
    const [half] = await adapter.rerank("email postage", sampleTools().slice(1, 2));
    expect(half).toBeCloseTo(0.5, 6);
    await double.close();
  });

  it.each([
    [{}, "reranker.api_base is needed for cross_encoder."],
    [{ apiBase: "http://127.0.0.1:1/v1" }, "reranker.model is needed for cross_encoder at a /v1 address."],
  ])("says what is missing in %o", (settings, message) => {
    expect(() => crossEncoderReranker(settings)).toThrow(message);
  });
});
