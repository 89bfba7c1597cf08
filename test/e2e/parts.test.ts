import { describe, expect, it } from "vitest";
import { type ArsenalEvent, type Reranker, ToolArsenal, type ToolArsenalParts } from "../../src/index.ts";
import type { Embedder } from "../../src/adapters/embedders/index.ts";
import { memoryEngine } from "../../src/adapters/engines/index.ts";
import { directExecutor } from "../../src/adapters/executors/index.ts";
import { patternsPolicy } from "../../src/adapters/policies/index.ts";
import type { Source } from "../../src/adapters/sources/index.ts";

import { jsonSchemaValidator } from "../../src/adapters/validators/index.ts";
import {
  createManualClock,
  embedderContract,
  rerankerContract,
  sampleTools,
  sourceContract,
} from "../../src/testing/index.ts";

/** An embedder of letter pairs: alike spelling is alike meaning. */
function pairs(): Embedder {
  const dimension = 64;
  return {
    model: "pairs-1",
    dimension,
    embed(texts, { signal }) {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      return Promise.resolve(
        texts.map((text) => {
          const vector = new Float32Array(dimension).fill(0.001);
          const letters = text.toLowerCase().replaceAll(/[^a-z]/g, "");
          for (let at = 1; at < letters.length; at++) {
            const slot = (letters.charCodeAt(at - 1) * 31 + letters.charCodeAt(at)) % dimension;
            vector[slot] = (vector[slot] ?? 0) + 1;
          }
          const length = Math.hypot(...vector);
          return vector.map((value) => value / length);
        }),
      );
    },
    healthCheck: () => Promise.resolve(true),
  };
}

/** A reranker that wants the longest description. */
function longest(): Reranker {
  return {
    model: "longest",
    rerank(_query, tools, options) {
      if (options?.signal?.aborted === true) return Promise.reject(options.signal.reason as Error);
      return Promise.resolve(tools.map(({ description }) => Math.min(1, description.length / 200)));
    },
  };
}

function source(): Source {
  return {
    name: "letters",
    kind: "mcp",
    connect: ({ signal }) => (signal.aborted ? Promise.reject(signal.reason as Error) : Promise.resolve()),
    list: () => Promise.resolve([{ draft: { name: "post", description: "Posts a letter." }, handler: () => "posted" }]),
    disconnect: () => Promise.resolve(),
  };
}

describe("an embedder of one's own [000-5.2-embed-batch] [000-5.2-embedder-health]", () => {
  for (const { name, run } of embedderContract(() => ({ adapter: pairs() }))) it(name, run);
});

describe("a reranker of one's own [000-5.3-reranker]", () => {
  for (const { name, run } of rerankerContract(() => ({ adapter: longest() }))) it(name, run);
});

describe("a source of one's own", () => {
  for (const { name, run } of sourceContract(() => ({ adapter: source() }))) it(name, run);
});

async function filled(parts: ToolArsenalParts): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...parts });
  await arsenal.add(
    sampleTools().map(({ name, description, parameters, tags }) => ({
      tool: { name, description, parameters, tags },
      handler: () => name,
    })),
  );
  return arsenal;
}

describe("parts of one's own are used in place of the built-in ones", () => {
  it("engine and embedder [000-3.1-ports] [000-5.2-embedder]", async () => {
    const engine = memoryEngine();
    await using arsenal = await filled({ engine, embedder: pairs() });
    const result = await arsenal.retrieve({ context: { query: "email a message" }, scoreThreshold: 0 });
    expect(result.tier).toContain("pairs-1");
    expect(result.tools[0]?.tool.name).toBe("send_email");
    expect(await engine.count()).toBe(5);
    expect(await engine.withoutVectors(`pairs-1/${pairs().dimension}`, { limit: 10 })).toEqual([]);
    expect(await arsenal.healthCheck()).toEqual({ store: true, embedder: true, state: true });
  });

  it("reranker, only where the query asks for it [000-3.1-ports] [000-4.2-reranking]", async () => {
    let asked = 0;
    const reranker: Reranker = { ...longest(), rerank: (...given) => (asked++, longest().rerank(...given)) };
    await using arsenal = await filled({ reranker });
    const query = { context: { query: "send an email" }, scoreThreshold: 0 };
    expect((await arsenal.retrieve(query)).tools[0]?.rerankScore).toBeUndefined();
    expect(asked).toBe(0);
    expect((await arsenal.retrieve({ ...query, enableReranking: true })).tools[0]?.rerankScore).toBeGreaterThan(0);
    expect(asked).toBe(1);
  });

  it("policy, validator, executors, sinks and clock [000-3.1-ports] [000-5.4-executor]", async () => {
    const events: ArsenalEvent[] = [];
    const compiled: unknown[] = [];
    const clock = createManualClock(5000);
    await using arsenal = await filled({
      policy: { ...patternsPolicy(), sees: ({ name }) => name !== "create_user" },
      validator: { compile: (schema) => (compiled.push(schema), jsonSchemaValidator().compile(schema)) },
      executors: [
        { name: "never", supports: () => false, run: () => Promise.resolve("never") },
        {
          name: "mine",
          supports: (kind) => kind === "function",
          run: ({ tool }) => Promise.resolve(`mine ${tool.name}`),
        },
        directExecutor(),
      ],
      sinks: [{ name: "list", write: (batch) => void events.push(...batch) }],
      clock,
    });
    const call = { toolName: "query_database", arguments: { sql: "select 1" } };
    const { result, queuedAt } = await arsenal.execute(call);
    expect([result, queuedAt]).toEqual(["mine query_database", 5000]);
    expect(compiled).toHaveLength(1);
    expect((await arsenal.listTools()).map(({ name }) => name)).not.toContain("create_user");
    await arsenal.close();
    expect(events.map(({ name }) => name)).toContain("call-finished");
  });

  it("classifier, where the configuration asks for one [000-3.1-ports]", async () => {
    const config = { routing: { useLlmForIntent: true }, telemetry: { enabled: false } };
    await using arsenal = new ToolArsenal({ ...config, classifyIntent: () => Promise.resolve("admin") });
    await arsenal.addTool({
      name: "look_around",
      description: "Looks around for something.",
      parameters: { type: "object" },
    });
    expect((await arsenal.retrieve({ context: { query: "look around here" } })).intent).toBe("admin");
  });
});
