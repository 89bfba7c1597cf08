import { describe, expect, it } from "vitest";
import { OPENAI_KEY, openAiDouble } from "../../../../test/doubles/openai.ts";
import { embedderContract } from "../../../testing/index.ts";
import { check, openaiCompatibleEmbedder } from "./openai-compatible.ts";

describe("the embedder for OpenAI-compatible servers", () => {
  const make = async (settings = {}) => {
    const double = await openAiDouble({ dimension: 384 });
    const shared = { apiKey: OPENAI_KEY, apiBase: `${double.url}/v1`, model: "e5-small-v2", dimension: 384 };
    const adapter = openaiCompatibleEmbedder({ ...shared, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of embedderContract(make)) it(name, run);

  it("puts before a text what the model was trained with, or what is configured", async () => {
    const inputs = async (settings: object): Promise<unknown[]> => {
      const { adapter, double, dispose } = await make(settings);
      await adapter.embed(["refund"], { kind: "query" });
      await adapter.embed(["refund"], { kind: "tool" });
      await dispose();
      const all = double.requests.map(({ body }) => (body as { readonly input: string[] }).input);
      return all.filter(({ length }) => length === 1).flat();
    };
    expect(await inputs({})).toEqual(["query: refund", "passage: refund"]);
    expect(await inputs({ queryPrefix: "", toolPrefix: "tool: " })).toEqual(["refund", "tool: refund"]);
    expect(await inputs({ model: "multilingual-e5-large-instruct" })).toEqual(["refund", "refund"]);
    expect(await inputs({ model: "nomic-ai/nomic-embed-text-v1.5" })).toEqual([
      "search_query: refund",
      "search_document: refund",
    ]);
  });

  it("never asks for another length: dimension only says what the server returns", async () => {
    const { adapter, double, dispose } = await make();
    await adapter.embed(["refund"], { kind: "tool" });
    expect(double.requests[0]?.body).not.toHaveProperty("dimensions");
    await dispose();
  });

  it.each([
    [{ apiBase: undefined }, "embedder.api_base is needed for openai_compatible."],
    [{ model: undefined }, "embedder.model is needed for openai_compatible."],
    [{ dimension: undefined }, "embedder.dimension is needed for some-model."],
    [{ apiBase: "localhost" }, "embedder.api_base is not an http or https address."],
  ])("says what is missing: %o", (without, message) => {
    const whole = { apiBase: "http://127.0.0.1:1/v1", model: "some-model", dimension: 8, ...without };
    const given = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
    expect(() => openaiCompatibleEmbedder(given)).toThrow(message);
  });

  it("tells doctor whether it works, and needs no key", async () => {
    await expect(
      check({ apiBase: "http://127.0.0.1:1", model: "m", dimension: 8, maxRetries: 0 }),
    ).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
  });
});
