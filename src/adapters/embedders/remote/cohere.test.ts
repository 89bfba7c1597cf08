import { CohereClientV2 } from "cohere-ai";
import { describe, expect, it } from "vitest";
import { COHERE_KEY, cohereDouble } from "../../../../test/doubles/cohere.ts";
import { embedderContract } from "../../../testing/index.ts";
import { check, cohereEmbedder } from "./cohere.ts";

describe("Cohere's embedder", () => {
  const make = async (settings = {}) => {
    const double = await cohereDouble();
    const adapter = cohereEmbedder({ apiKey: COHERE_KEY, apiBase: double.url, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of embedderContract(make)) it(name, run);

  it("sends what the official client sends, a request and a tool each as what it is [000-5.2-cohere]", async () => {
    const { adapter, double, dispose } = await make({ dimension: 512 });
    await adapter.embed(["send an email"], { kind: "tool" });
    await adapter.embed(["send an email"], { kind: "query" });
    const client = new CohereClientV2({ token: COHERE_KEY, environment: double.url });
    for (const inputType of ["search_document", "search_query"] as const)
      await client.embed({
        model: "embed-v4.0",
        texts: ["send an email"],
        inputType,
        embeddingTypes: ["float"],
        truncate: "END",
        outputDimension: 512,
      });
    const sent = double.requests.filter(({ body }) => (body as { texts: string[] }).texts.length === 1);
    expect(sent).toHaveLength(4);
    const [tool, query, theirTool, theirQuery] = sent.map(({ method, path, headers, body }) => {
      return { method, path, authorization: headers.authorization, body };
    });
    expect(tool).toEqual(theirTool);
    expect(query).toEqual(theirQuery);
    await dispose();
  });

  it("sends at most 96 texts at once", async () => {
    const { adapter, double, dispose } = await make({ batchSize: 500 });
    await adapter.embed(
      Array.from({ length: 200 }, (_, at) => `text ${at}`),
      { kind: "tool" },
    );
    const sizes = double.requests.map(({ body }) => (body as { texts: string[] }).texts.length);
    expect(sizes.toSorted((one, other) => other - one).slice(0, 3)).toEqual([96, 96, 8]);
    await dispose();
  });

  it("tells doctor whether it works, without the key", async () => {
    const { double, dispose } = await make();
    expect(await check({ apiKey: COHERE_KEY, apiBase: double.url })).toBe("cohere/embed-v4.0/1536 answers");
    const failure = String(await check({ apiKey: "co-wrong-0123456789", apiBase: double.url }).catch(String));
    expect(failure).toContain("invalid api token");
    expect(failure).not.toContain("co-wrong-0123456789");
    await dispose();
  });
});
