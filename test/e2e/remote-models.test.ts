import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ArsenalEvent, ToolArsenal, type ToolArsenalConfig } from "../../src/index.ts";
import { sampleTools } from "../../src/testing/index.ts";
import { COHERE_KEY, cohereDouble } from "../doubles/cohere.ts";
import type { HttpDouble } from "../doubles/http-double.ts";
import { OPENAI_KEY, openAiDouble } from "../doubles/openai.ts";

async function filled(config: ToolArsenalConfig, events: ArsenalEvent[] = []): Promise<ToolArsenal> {
  const environment = { OPENAI_KEY, COHERE_KEY };
  const sinks = [{ name: "test", write: async (given: readonly ArsenalEvent[]) => void events.push(...given) }];
  const arsenal = new ToolArsenal({ ...config, environment, sinks });
  onTestFinished(() => arsenal.close());
  await arsenal.add(
    sampleTools().map(({ name, description, parameters }) => ({
      tool: { name, description, parameters },
      handler: () => "",
    })),
  );
  await arsenal.sync();
  return arsenal;
}

async function double(): Promise<HttpDouble> {
  const started = await openAiDouble({ dimension: 256 });
  onTestFinished(() => started.close());
  return started;
}

const inputs = ({ requests }: HttpDouble): string[][] =>
  requests.map(({ body }) => (body as { readonly input: string[] }).input);

describe("an embedder of the configuration", () => {
  const settings = (url: string) => ({
    type: "openai" as const,
    model: "text-embedding-3-large",
    dimension: 256,
    apiKey: "env:OPENAI_KEY",
    apiBase: `${url}/v1`,
    batchSize: 2,
    maxRetries: 0,
  });

  it("finds tools by meaning, with its model, key, address, batch size and retries [000-9.1-embedder-settings]", async () => {
    const server = await double();
    const arsenal = await filled({ embedder: settings(server.url) });
    const result = await arsenal.retrieve({ context: { query: "send an email" } });
    expect(result.tools[0]?.tool.name).toBe("send_email");
    expect(result.tier).toBe("openai/text-embedding-3-large/256");
    expect(server.requests[0]).toMatchObject({
      headers: { authorization: `Bearer ${OPENAI_KEY}` },
      body: { model: "text-embedding-3-large", dimensions: 256 },
    });
    expect(Math.max(...inputs(server).map(({ length }) => length))).toBe(2);
    const before = server.requests.length;
    server.answerNext({ status: 503, body: {} });
    expect((await arsenal.retrieve({ context: { query: "refund a customer" } })).tools.length).toBeGreaterThan(0);
    expect(server.requests).toHaveLength(before + 1);
  });

  it("that fails leaves the search by words, and says why without the key", async () => {
    const events: ArsenalEvent[] = [];
    const server = await double();
    const wrong = "sk-wrong-key-0123456789";
    const arsenal = await filled({ embedder: { ...settings(server.url), apiKey: wrong } }, events);
    const result = await arsenal.retrieve({ context: { query: "send an email" } });
    expect(result.tools[0]?.tool.name).toBe("send_email");
    expect(result.tier).toBe("lexical");
    await arsenal.close();
    const told = events.filter(({ name }) => name === "embedder-failed").map((event) => JSON.stringify(event));
    expect(told[0]).toContain("Check the key that embedder.api_key refers to.");
    expect(JSON.stringify(events)).not.toContain(wrong);
  });

  it("is not asked again for tools that the cache knows", async () => {
    const server = await double();
    const cache = await mkdtemp(join(tmpdir(), "remote-models-"));
    onTestFinished(() => rm(cache, { recursive: true }));
    const config = { embedder: { ...settings(server.url), cache } };
    await (await filled(config)).close();
    const once = inputs(server).flat().length;
    await (await filled(config)).close();
    expect(once).toBeGreaterThan(5);
    expect(inputs(server).flat()).toHaveLength(once);
  });
});

describe("a reranker of the configuration", () => {
  const query = { context: { query: "send an email message about the refund of a customer" }, scoreThreshold: 0 };

  it("orders the best candidates again, by its type, model and top_k [000-9.1-reranker-settings]", async () => {
    const server = await cohereDouble();
    onTestFinished(() => server.close());
    const reranker = { enabled: true, type: "cohere", model: "rerank-english-v3.0", topK: 2 } as const;
    const arsenal = await filled({
      embedder: { tier: "lexical" },
      reranker: { ...reranker, apiKey: "env:COHERE_KEY", apiBase: server.url },
    });
    const result = await arsenal.retrieve(query);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({ path: "/v2/rerank", body: { model: "rerank-english-v3.0" } });
    expect(server.requests[0]?.body).toMatchObject({ documents: [expect.any(String), expect.any(String)] });
    expect(result.tools.filter(({ rerankScore }) => rerankScore !== undefined)).toHaveLength(2);
    expect(result).not.toHaveProperty("rerankError");
  });

  it("that fails or hangs leaves the search's order, and says why without the key", async () => {
    const server = await cohereDouble();
    onTestFinished(() => server.close());
    const connection = { apiKey: "env:COHERE_KEY", apiBase: server.url } as const;
    const config = { embedder: { tier: "lexical" } } as const;
    const plain = await (await filled(config)).retrieve(query);
    const failing = await filled({
      ...config,
      reranker: { enabled: true, type: "cohere", ...connection, apiKey: "wrong-key-123" },
    });
    const failed = await failing.retrieve(query);
    expect(failed.tools.map(({ tool }) => tool.id)).toEqual(plain.tools.map(({ tool }) => tool.id));
    expect(failed.rerankError).toMatch(
      /^The reranker cohere.* failed, .*Check the key that reranker.api_key refers to/,
    );
    expect(JSON.stringify(failed)).not.toContain("wrong-key-123");
    const hanging = await filled({
      ...config,
      reranker: { enabled: true, type: "cohere", ...connection, timeoutMs: 10 },
    });
    server.answerNext("hang", "hang");
    const late = await hanging.retrieve(query);
    expect(late.tools.map(({ tool }) => tool.id)).toEqual(plain.tools.map(({ tool }) => tool.id));
    expect(late.rerankError).toContain("within 10 ms");
  });

  it.each([
    [{ type: "cross_encoder" }, /reranker.apiBase.*is needed for cross_encoder/],
    [{ type: "llm" }, /reranker.model.*is needed for llm/],
    [{}, /reranker.api_base is needed for cross_encoder\. .*inject your own/],
  ] as const)("that lacks a setting is refused with its name: %o", (given, message) => {
    expect(() => new ToolArsenal({ reranker: { enabled: true, ...given } })).toThrow(message);
  });
});
