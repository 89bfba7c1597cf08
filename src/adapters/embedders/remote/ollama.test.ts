import { type EmbedRequest, Ollama } from "ollama";
import { describe, expect, expectTypeOf, it } from "vitest";
import { ollamaDouble } from "../../../../test/doubles/ollama.ts";
import { embedderContract } from "../../../testing/index.ts";
import { check, type embedBody, ollamaEmbedder } from "./ollama.ts";

describe("Ollama's embedder", () => {
  const make = async (settings = {}) => {
    const double = await ollamaDouble();
    const adapter = ollamaEmbedder({ apiBase: double.url, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of embedderContract(make)) it(name, run);

  it("sends what the official client sends [000-5.2-ollama]", async () => {
    const { adapter, double, dispose } = await make({ dimension: 256 });
    await adapter.embed(["send an email"], { kind: "tool" });
    const client = new Ollama({ host: double.url });
    const input = ["search_document: send an email"];
    await client.embed({ model: "nomic-embed-text", input, truncate: true, dimensions: 256 });
    const [ours, , , official] = double.requests.map(({ method, path, body }) => ({ method, path, body }));
    expect(ours).toEqual(official);
    expectTypeOf<ReturnType<typeof embedBody>>().toExtend<EmbedRequest>();
    await dispose();
  });

  it("tells doctor whether it works, and which model to pull", async () => {
    const { double, dispose } = await make();
    expect(await check({ apiBase: double.url })).toMatch(/^ollama\/nomic-embed-text\/768\/[0-9a-f]{8} answers$/);
    await expect(check({ apiBase: double.url, model: "all-minilm" })).rejects.toThrow(
      'model "all-minilm" not found, try pulling it first. Check embedder.model and embedder.api_base.',
    );
    await dispose();
  });
});
