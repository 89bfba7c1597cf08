import { describe, expect, it } from "vitest";
import { refusalCases } from "../../../test/doubles/engine-cases.ts";
import type { Double } from "../../../test/doubles/documented-double.ts";
import { pineconeDouble } from "../../../test/doubles/pinecone.ts";
import type { Clock } from "../../observe/clock.ts";
import { systemClock } from "../../observe/clock.ts";
import { catalogEngineContract } from "../../testing/catalog-engine.contract.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { check, pineconeEngine } from "./pinecone.ts";

/** A clock on which pauses are over at once; timeouts never come. */
const hurried: Clock = {
  now: systemClock.now,
  after(ms, callback) {
    if (ms < 30_000) setImmediate(callback);
    return () => {};
  },
};

describe("Pinecone engine [000-5.1-pinecone]", () => {
  let double: Double;
  const cases = catalogEngineContract(
    async () => {
      double = await pineconeDouble();
      const adapter = pineconeEngine({ url: double.url }, { clock: hurried });
      return {
        adapter,
        async dispose() {
          await adapter.close();
          await double.close();
        },
      };
    },
    { another: () => pineconeEngine({ url: double.url }, { clock: hurried }) },
  );
  for (const { name, run } of cases) it(name, run);

  refusalCases({
    title: "Pinecone",
    start: pineconeDouble,
    engine: (options, clock = hurried) => pineconeEngine(options, { clock }),
  });

  it("needs an index that can hold the vectors and add up words", async () => {
    expect(() => pineconeEngine({})).toThrow("vector_store.url is missing");
    const cosine = await pineconeDouble({ metric: "cosine" });
    await expect(check({ url: cosine.url })).rejects.toThrow(
      "The Pinecone index has the metric cosine. Create an index with the metric dotproduct",
    );
    await cosine.close();
    const small = await pineconeDouble({ dimension: 4 });
    const engine = pineconeEngine({ url: small.url }, { clock: hurried });
    await engine.open();
    const tool = defineTool({ name: "any", description: "Does something for somebody." });
    await engine.put([tool]);
    const vectors = [
      { id: tool.id, contentHash: tool.contentHash, vectors: [new Float32Array(8).fill(Math.SQRT1_2 / 2)] },
    ];
    await expect(engine.putVectors("wide", vectors)).rejects.toThrow("has 4 dimensions, but the model has 8");
    expect(await engine.models()).toEqual([]);
    await engine.close();
    await small.close();
  });

  it("keeps a tool that is longer than Pinecone takes, and shows only whole ones", async () => {
    const server = await pineconeDouble();
    const engine = pineconeEngine({ url: server.url }, { clock: hurried });
    await engine.open();
    const long = (word: string) =>
      defineTool({
        name: "long",
        description: "Holds a lot.",
        metadata: { notes: `${word} `.repeat(20_000) },
        createdAt: 1,
      });
    await engine.put([long("first")]);
    await engine.put([long("second")]);
    expect(await engine.get(["default.long"])).toEqual([long("second")]);
    await engine.close();
    await server.close();
  });
});
