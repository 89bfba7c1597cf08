import { describe, expect, it } from "vitest";
import { chromaDouble } from "../../../test/doubles/chroma.ts";
import { refusalCases } from "../../../test/doubles/engine-cases.ts";
import type { Double } from "../../../test/doubles/documented-double.ts";
import { catalogEngineContract } from "../../testing/catalog-engine.contract.ts";
import { chromaEngine, check } from "./chroma.ts";

describe("Chroma engine [000-5.1-chroma]", () => {
  let double: Double;
  const cases = catalogEngineContract(
    async () => {
      double = await chromaDouble();
      const adapter = chromaEngine({ url: double.url });
      return {
        adapter,
        async dispose() {
          await adapter.close();
          await double.close();
        },
      };
    },
    { another: () => chromaEngine({ url: double.url }) },
  );
  for (const { name, run } of cases) it(name, run);

  refusalCases({
    title: "Chroma",
    start: chromaDouble,
    engine: (options, clock) => chromaEngine(options, clock === undefined ? {} : { clock }),
  });

  it("keeps off a collection that is not its own", async () => {
    const server = await chromaDouble();
    const body = JSON.stringify({ name: "books", configuration: { hnsw: { space: "ip" } } });
    const headers = { "content-type": "application/json" };
    const path = "/api/v2/tenants/default_tenant/databases/default_database/collections";
    await fetch(`${server.url}${path}`, { method: "POST", headers, body });
    await expect(chromaEngine({ url: server.url, collectionName: "books" }).open()).rejects.toThrow(
      "The Chroma collection books was not created by ToolArsenal",
    );
    expect(server.requests.filter((request) => request.startsWith("POST"))).toEqual([`POST ${path}`]);
    await server.close();
  });

  it("tells doctor of a tenant that does not exist", async () => {
    const server = await chromaDouble();
    await expect(check({ url: server.url, chromaTenant: "nobody" })).rejects.toThrow("Chroma refused POST");
    expect(await check({ url: server.url })).toBe(`${server.url}, 0 tools`);
    await server.close();
  });
});
