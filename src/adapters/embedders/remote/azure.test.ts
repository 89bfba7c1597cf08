import { AzureOpenAI } from "openai";
import { describe, expect, it } from "vitest";
import { OPENAI_KEY, openAiDouble } from "../../../../test/doubles/openai.ts";
import { embedderContract } from "../../../testing/index.ts";
import { azureEmbedder, check } from "./azure.ts";

describe("the embedder of Azure OpenAI", () => {
  const make = async (settings = {}) => {
    const double = await openAiDouble();
    const adapter = azureEmbedder({ apiKey: OPENAI_KEY, apiBase: double.url, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of embedderContract(make)) it(name, run);

  it("sends what the official client sends [000-5.2-openai]", async () => {
    const { adapter, double, dispose } = await make({ deployment: "my embeddings" });
    await adapter.embed(["send an email"], { kind: "tool" });
    const client = new AzureOpenAI({
      apiKey: OPENAI_KEY,
      endpoint: double.url,
      apiVersion: "2024-10-21",
      deployment: "my embeddings",
    });
    const model = "text-embedding-3-small";
    await client.embeddings.create({ model, input: ["send an email"], encoding_format: "float" });
    const [ours, , , official] = double.requests;
    for (const request of [ours, official])
      expect({ ...request, headers: request?.headers["api-key"] }).toEqual({
        method: "POST",
        path: "/openai/deployments/my%20embeddings/embeddings?api-version=2024-10-21",
        headers: OPENAI_KEY,
        body: { model, input: ["send an email"], encoding_format: "float" },
      });
    await dispose();
  });

  it("needs the address of the resource", () => {
    expect(() => azureEmbedder({ apiKey: "env:KEY" })).toThrow("embedder.api_base is needed for azure.");
  });

  it("has vectors that compare with OpenAI's own", () => {
    expect(azureEmbedder({ apiBase: "https://a.openai.azure.com" }).model).toBe("openai/text-embedding-3-small/1536");
  });

  it("tells doctor whether it works", async () => {
    const { double, dispose } = await make();
    expect(await check({ apiKey: OPENAI_KEY, apiBase: double.url })).toMatch(/answers$/);
    await expect(check({ apiKey: "wrong", apiBase: double.url })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await dispose();
  });
});
