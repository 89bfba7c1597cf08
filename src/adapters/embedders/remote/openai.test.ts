import OpenAI from "openai";
import type { EmbeddingCreateParams } from "openai/resources/embeddings";
import { describe, expect, expectTypeOf, it } from "vitest";
import { OPENAI_KEY, openAiDouble } from "../../../../test/doubles/openai.ts";
import { embedderContract } from "../../../testing/index.ts";
import { check, type embeddingBody, openaiEmbedder } from "./openai.ts";

describe("OpenAI's embedder", () => {
  const make = async (settings = {}) => {
    const double = await openAiDouble();
    const adapter = openaiEmbedder({ apiKey: OPENAI_KEY, apiBase: `${double.url}/v1`, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of embedderContract(make)) it(name, run);

  it("sends what the official client sends [000-5.2-openai]", async () => {
    const { adapter, double, dispose } = await make({ dimension: 256 });
    await adapter.embed(["send an email"], { kind: "tool" });
    const client = new OpenAI({ apiKey: OPENAI_KEY, baseURL: `${double.url}/v1` });
    const model = "text-embedding-3-small";
    const theirs = await client.embeddings.create({
      model,
      input: ["send an email"],
      encoding_format: "float",
      dimensions: 256,
    });
    expect(theirs.data[0]?.embedding).toHaveLength(256);
    const [ours, , , official] = double.requests;
    for (const request of [ours, official])
      expect({ ...request, headers: request?.headers.authorization }).toEqual({
        method: "POST",
        path: "/v1/embeddings",
        headers: `Bearer ${OPENAI_KEY}`,
        body: { model, input: ["send an email"], encoding_format: "float", dimensions: 256 },
      });
    expectTypeOf<ReturnType<typeof embeddingBody>>().toExtend<EmbeddingCreateParams>();
    await dispose();
  });

  it("asks for shorter vectors only if they are", async () => {
    const { adapter, double, dispose } = await make();
    await adapter.embed(["text"], { kind: "tool" });
    expect(double.requests[0]?.body).not.toHaveProperty("dimensions");
    await dispose();
  });

  it("needs the dimension of a model it does not know", () => {
    expect(() => openaiEmbedder({ model: "text-embedding-9" })).toThrow(
      "embedder.dimension is needed for text-embedding-9. Set it to the length of the model's vectors",
    );
  });

  it("tells doctor whether it works, without the key", async () => {
    const { double, dispose } = await make();
    const apiBase = `${double.url}/v1`;
    expect(await check({ apiKey: OPENAI_KEY, apiBase })).toBe("openai/text-embedding-3-small/1536 answers");
    const failure = await check({ apiKey: "sk-wrong-0123456789abcdef", apiBase }).catch((error: Error) => error);
    expect(failure).toMatchObject({ code: "CONFIG_INVALID", details: { field: "embedder.api_key" } });
    expect(String(failure)).toContain("Incorrect API key provided");
    expect(JSON.stringify(failure) + String(failure)).not.toContain("sk-wrong-0123456789abcdef");
    await dispose();
  });
});
