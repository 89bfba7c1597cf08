import { describe, expect, it } from "vitest";
import { refusalCases } from "../../../test/doubles/engine-cases.ts";
import type { Double } from "../../../test/doubles/documented-double.ts";
import { weaviateDouble } from "../../../test/doubles/weaviate.ts";
import { catalogEngineContract } from "../../testing/catalog-engine.contract.ts";
import { check, weaviateEngine } from "./weaviate.ts";

describe("Weaviate engine [000-5.1-weaviate]", () => {
  let double: Double;
  const cases = catalogEngineContract(
    async () => {
      double = await weaviateDouble();
      const adapter = weaviateEngine({ url: double.url });
      return {
        adapter,
        async dispose() {
          await adapter.close();
          await double.close();
        },
      };
    },
    { another: () => weaviateEngine({ url: double.url }) },
  );
  for (const { name, run } of cases) it(name, run);

  refusalCases({
    title: "Weaviate",
    start: weaviateDouble,
    engine: (options, clock) => weaviateEngine(options, clock === undefined ? {} : { clock }),
  });

  it("keeps off a collection that is not its own, and tells doctor where the tools are", async () => {
    const server = await weaviateDouble();
    const body = JSON.stringify({ class: "Books", properties: [] });
    await fetch(`${server.url}/v1/schema`, { method: "POST", headers: { "content-type": "application/json" }, body });
    await expect(weaviateEngine({ url: server.url, collectionName: "books" }).open()).rejects.toThrow(
      "The Weaviate collection books was not created by ToolArsenal",
    );
    expect(server.requests).toEqual(["POST /v1/schema", "GET /v1/schema/Books"]);
    expect(await check({ url: server.url })).toBe(`${server.url}, 0 tools`);
    await server.close();
  });

  it("says what a key without rights may not do", async () => {
    const server = await weaviateDouble();
    const engine = weaviateEngine({ url: server.url, apiKey: "a key that may only read" });
    const message =
      "rbac: authorization, forbidden action: user 'reader' has insufficient permissions to create_collections";
    server.answerNext({ status: 404 }, { status: 403, body: { error: [{ message }] } });
    await expect(engine.open()).rejects.toThrow(`Weaviate refused POST /v1/schema with status 403: ${message}`);
    await engine.close();
    await server.close();
  });
});
