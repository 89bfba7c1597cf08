import { describe, expect, it } from "vitest";
import { refusalCases } from "../../../test/doubles/engine-cases.ts";
import type { Double } from "../../../test/doubles/documented-double.ts";
import { OPENAI_KEY, openAiDouble } from "../../../test/doubles/openai.ts";
import { qdrantDouble } from "../../../test/doubles/qdrant.ts";
import { ToolArsenal } from "../../arsenal.ts";
import { catalogEngineContract } from "../../testing/catalog-engine.contract.ts";
import { sampleTools } from "../../testing/sample-tools.ts";
import { check, qdrantEngine } from "./qdrant.ts";

describe("Qdrant engine [000-5.1-qdrant]", () => {
  let double: Double;
  const cases = catalogEngineContract(
    async () => {
      double = await qdrantDouble();
      const adapter = qdrantEngine({ url: double.url });
      return {
        adapter,
        async dispose() {
          await adapter.close();
          await double.close();
        },
      };
    },
    { another: () => qdrantEngine({ url: double.url }) },
  );
  for (const { name, run } of cases) it(name, run);

  refusalCases({
    title: "Qdrant",
    start: qdrantDouble,
    engine: (options, clock) => qdrantEngine(options, clock === undefined ? {} : { clock }),
  });

  it("keeps off a collection with vectors of another length, and one that is not its own", async () => {
    const server = await qdrantDouble();
    const json = (method: string, path: string, body: object): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await json("PUT", "/collections/books", { vectors: { size: 4, distance: "Cosine" } });
    await json("PUT", "/collections/empty", { vectors: {} });
    await expect(qdrantEngine({ url: server.url, collectionName: "books" }).open()).rejects.toThrow(
      "The Qdrant collection books has vectors of 4 dimensions, but needs no vectors",
    );
    await expect(qdrantEngine({ url: server.url, collectionName: "empty" }).open()).rejects.toThrow(
      "was not created by ToolArsenal",
    );
    expect(server.requests.filter((request) => request.startsWith("PUT"))).toEqual([
      "PUT /collections/books",
      "PUT /collections/empty",
    ]);
    await server.close();
  });

  it("is configured by url, api_key, collection_name, dimension and options of vector_store [000-9.1-store-settings]", async () => {
    const server = await qdrantDouble({ apiKey: "the-key" });
    const model = await openAiDouble({ dimension: 8 });
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      vectorStore: {
        type: "qdrant",
        url: "http://127.0.0.1:9",
        apiKey: "the-key",
        collectionName: "shop",
        dimension: 8,
        options: { url: server.url },
      },
      embedder: { type: "openai_compatible", model: "ours", apiBase: `${model.url}/v1`, apiKey: OPENAI_KEY },
    });
    arsenal.register({ name: "refund_order", description: "Refunds an order." }, () => "done");
    expect((await arsenal.retrieve("refund an order")).tools.map(({ tool }) => tool.name)).toEqual(["refund_order"]);
    const stored = server.requests.filter((request) => request.startsWith("PUT /collections/shop"));
    expect(stored).toContain("PUT /collections/shop");
    expect(server.requests.filter((request) => !request.includes(" /collections/shop"))).toEqual([]);
    await arsenal.close();
    await Promise.all([server.close(), model.close()]);
  });

  it("tells doctor where the tools are and how many", async () => {
    const server = await qdrantDouble();
    const engine = qdrantEngine({ url: server.url });
    await engine.open();
    await engine.put(sampleTools());
    await engine.close();
    expect(await check({ url: server.url })).toBe(`${server.url}, 5 tools`);
    await server.close();
  });

  it("is checked against a double that refuses what Qdrant's document does not allow", async () => {
    const server = await qdrantDouble();
    const status = async (method: string, path: string, body: object): Promise<unknown> => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${server.url}${path}`, { method, headers, body: JSON.stringify(body) });
      const said = (await answer.text()) || "{}";
      return [answer.status, (JSON.parse(said) as { status?: { error?: string } }).status?.error];
    };
    expect(await status("PUT", "/collections/a", { vectors: {}, extra: 1 })).toEqual([
      400,
      expect.stringContaining("additional"),
    ]);
    expect(await status("PUT", "/collections/a", { vectors: { size: "4" } })).toEqual([400, expect.any(String)]);
    expect(await status("POST", "/collections/a/points/scroll", { limit: 1 })).toEqual([
      404,
      expect.stringContaining("doesn't exist"),
    ]);
    expect(await status("POST", "/collections/a/points/delete", {})).toEqual([400, expect.any(String)]);
    expect(await status("POST", "/collections/a/point", {})).toEqual([404, undefined]);
    await server.close();
  });
});
