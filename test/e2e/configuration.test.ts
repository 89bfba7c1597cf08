import { resolvedOptions } from "../../src/wire/parts.ts";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig, parseConfig } from "../../src/config/load/load-config.ts";
import { resolveConfig } from "../../src/config/load/resolve-config.ts";
import { ToolArsenal, type ToolArsenalConfig } from "../../src/index.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const tool = {
  name: "look_around",
  description: "Looks around and says what it sees.",
  parameters: { type: "object" },
};

const PRODUCTION = `vector_store:
  type: qdrant
  url: \${QDRANT_URL}
  api_key: \${QDRANT_API_KEY}
  collection_name: production_tools

embedder:
  type: openai
  model: text-embedding-3-small
  api_key: \${OPENAI_API_KEY}

reranker:
  enabled: true
  type: cohere
  model: rerank-english-v3.0

routing:
  weights:
    semantic: 0.5
    intent: 0.2
    conversation: 0.1
    health: 0.15
    cost: 0.05
  enable_mmr: true
  mmr_lambda: 0.7

execution:
  default_timeout_ms: 30000
  circuit_breaker_threshold: 3

telemetry:
  type: opentelemetry
  otlp_endpoint: \${OTLP_ENDPOINT:-http://localhost:4318}
  service_name: tool_arsenal_prod

mcp:
  serve_mcp: true
  mcp_mode: dynamic
  servers:
    - name: database
      command: ["npx", "-y", "@anthropic/mcp-database"]
    - name: filesystem
      command: ["npx", "-y", "@anthropic/mcp-filesystem", "/data"]

a2a:
  serve_a2a: false

security:
  policy: strict
  human_in_the_loop:
    - refund_user
    - drop_table
`;

describe("defaults", () => {
  it("are the documented ones in every section [000-9.1-sections] [000-6.1-weights]", () => {
    expect(resolveConfig({})).toMatchObject({
      vectorStore: { type: "memory", collectionName: "tool_arsenal" },
      embedder: { type: "sentence_transformers", batchSize: 100, maxRetries: 3 },
      reranker: { enabled: false, topK: 10 },
      routing: {
        weights: { semantic: 0.6, intent: 0.15, conversation: 0.1, health: 0.1, cost: 0.05 },
        enableIntentClassification: true,
        useLlmForIntent: false,
        enableMmr: true,
        mmrLambda: 0.7,
        scoreThreshold: 0.5,
        refuse: "confident",
      },
      execution: {
        defaultTimeoutMs: 30_000,
        maxRetries: 3,
        circuitBreakerThreshold: 5,
        circuitBreakerTimeoutS: 60,
        maxConcurrent: 256,
        enableSandbox: false,
        sandboxType: "none",
      },
      telemetry: {
        exposePrometheus: false,
        prometheusPort: 9090,
        history: { max: 10_000, maxAgeDays: 7, text: true },
      },
      security: { requireConfirmation: ["delete_*", "payment_*", "drop_*", "refund_*"] },
      mcp: { servers: [], serveMcp: false, mcpMode: "dynamic" },
      a2a: { agents: [], serveA2a: false, a2aPort: 8080 },
      autoSync: true,
      syncOnRegister: false,
    });
  });
});

describe("a configuration file", () => {
  it("is read from YAML, in snake_case [000-9.1-yaml]", async () => {
    const { config } = await loadConfig(await file("a.yaml", "execution:\n  max_retries: 2\nauto_sync: false\n"));
    expect([config.execution.maxRetries, config.autoSync]).toEqual([2, false]);
  });

  it("may name variables of the environment, with defaults [000-9.2-environment]", async () => {
    const text =
      "vector_store:\n  url: ${STORE_URL}\n  collection_name: ${NAME:-tools}\nexecution:\n  max_retries: ${TRIES}\n";
    const config = await parseConfig(text, "a.yaml", { STORE_URL: "http://store", TRIES: "4" });
    expect(config.vectorStore).toMatchObject({ url: "http://store", collectionName: "tools" });
    expect(config.execution.maxRetries).toBe(4);
    await expect(parseConfig(text, "a.yaml", { TRIES: "4" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("STORE_URL") as string,
    });
  });

  it("says key, value and fix of what is wrong, and the nearest key of an unknown one [000-9.1-invalid] [000-9.1-unknown-key]", async () => {
    const text = "execution:\n  max_retrys: 2\n  default_timeout_ms: soon\n";
    await expect(parseConfig(text, "a.yaml", {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining('Did you mean "max_retries"?') as string,
      details: {
        issues: [
          { field: "execution.max_retrys", fix: 'Did you mean "max_retries"?' },
          {
            field: "execution.default_timeout_ms",
            value: "soon",
            fix: expect.stringContaining("execution.default_timeout_ms") as string,
          },
        ],
      },
    });
  });

  it("keeps the cause of why it could not be read [002-errors-cause]", async () => {
    await expect(loadConfig(join(folder, "nowhere.yaml"))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      cause: { code: "ENOENT" },
    });
  });

  it("for development is the example that ships [000-9.2-dev]", async () => {
    const { config } = await loadConfig("examples/config.dev.yaml", {});
    expect(config.execution.defaultTimeoutMs).toBe(60_000);
    expect(config.routing.enableMmr).toBe(false);
    await using arsenal = await ToolArsenal.fromConfig("examples/config.dev.yaml", { sinks: [] });
    expect(arsenal.toolCount).toBe(0);
  });

  it("for production names remote backends, a policy and servers [000-9.2-prod] [000-9.2-security]", async () => {
    const environment = {
      QDRANT_URL: "http://qdrant",
      QDRANT_API_KEY: "k",
      OPENAI_API_KEY: "k",
      OTLP_ENDPOINT: "http://otlp",
    };
    const { config } = await loadConfig(await file("seed.prod.yaml", PRODUCTION), environment);
    await using arsenal = new ToolArsenal(resolvedOptions(config, {}));
    expect(arsenal.toolCount).toBe(0);
    expect(config).toMatchObject({
      vectorStore: { type: "qdrant", url: "http://qdrant", collectionName: "production_tools" },
      embedder: { type: "openai", model: "text-embedding-3-small" },
      routing: { weights: { semantic: 0.5, intent: 0.2, conversation: 0.1, health: 0.15, cost: 0.05 } },
      execution: { circuitBreakerThreshold: 3 },
      telemetry: { type: "opentelemetry", otlpEndpoint: "http://otlp", serviceName: "tool_arsenal_prod" },
      mcp: { serveMcp: true, servers: [{ name: "database" }, { name: "filesystem" }] },
      security: { policy: "strict", humanInTheLoop: ["refund_user", "drop_table"] },
    });
  });

  it("has a short form, the arsenal block [004-config-timeout] [004-config-concurrency] [004-config-servers]", async () => {
    const text = `arsenal:
  default_timeout_seconds: 12
  max_concurrent_tools: 3
  mcp_servers:
    - { name: calculator, type: stdio, command: uvx, args: [mcp-calculator] }
    - { name: web_search, type: sse, endpoint: "https://api.example.com/mcp" }
`;
    const config = await parseConfig(text, "a.yaml", {});
    expect(config.execution).toMatchObject({ defaultTimeoutMs: 12_000, maxConcurrent: 3 });
    expect(config.mcp.servers).toEqual([
      { name: "calculator", type: "stdio", command: "uvx", args: ["mcp-calculator"] },
      { name: "web_search", type: "sse", endpoint: "https://api.example.com/mcp" },
    ]);
  });

  it("makes an arsenal whose modules register their tools [000-9.3-from-config] [000-9.3-modules] [000-9.3-register]", async () => {
    await file(
      "tax.mjs",
      `export default (arsenal) => arsenal.register(
        { name: "calculate_tax", description: "Calculates the sales tax of an amount.", tags: ["finance"],
          parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] } },
        ({ amount }) => amount * 0.08);`,
    );
    const path = await file("modules.yaml", "modules: [tax.mjs]\ntelemetry:\n  enabled: false\n");
    await using arsenal = await ToolArsenal.fromConfig(path);
    const [shown] = await arsenal.retrieveTools("What is the tax on $100?", { limit: 1 });
    expect(shown).toMatchObject({ function: { name: "calculate_tax" } });
    const { result } = await arsenal.execute({ toolName: "calculate_tax", arguments: { amount: 100 } });
    expect(result).toBe(8);
  });
});

describe("a configured arsenal", () => {
  it("refuses a backend it has not, and says what it has [000-9.1-not-built-in]", () => {
    const refusal = (config: ToolArsenalConfig): unknown => {
      try {
        return new ToolArsenal(config);
      } catch (error) {
        return error;
      }
    };
    expect(refusal({ vectorStore: { type: "nowhere" as "memory" } })).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("memory") as string,
      details: { field: "vectorStore.type", value: "nowhere" },
    });
    expect(refusal({ telemetry: { type: "nowhere" as "console" } })).toMatchObject({ code: "CONFIG_INVALID" });
    expect(refusal({ reranker: { enabled: true } })).toMatchObject({ details: { field: "reranker.api_base" } });
  });

  it("indexes what is pending before it retrieves, unless told not to [000-9.1-auto-sync]", async () => {
    const found = async (autoSync: boolean): Promise<number> => {
      await using arsenal = new ToolArsenal({ autoSync, telemetry: { enabled: false } });
      await arsenal.addTool(tool);
      return (await arsenal.retrieve({ context: { query: "look around" } })).tools.length;
    };
    expect([await found(true), await found(false)]).toEqual([1, 0]);
  });

  it("indexes at registration where told to [000-9.1-sync-on-register]", async () => {
    await using arsenal = new ToolArsenal({ autoSync: false, syncOnRegister: true, telemetry: { enabled: false } });
    await arsenal.addTool(tool);
    expect((await arsenal.retrieve({ context: { query: "look around" } })).tools).toHaveLength(1);
  });

  it("asks a person before what is on the list, and refuses in strict what no rule allows [000-9.2-security]", async () => {
    await using arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      security: { policy: "strict", allow: ["look_around", "refund_user"], humanInTheLoop: ["refund_user"] },
    });
    for (const name of ["look_around", "refund_user", "walk_about"]) await arsenal.addTool({ ...tool, name }, () => 1);
    const status = async (toolName: string): Promise<string> => (await arsenal.execute({ toolName })).status;
    expect(await status("look_around")).toBe("success");
    expect(await status("refund_user")).toBe("pending_confirmation");
    expect(await status("walk_about")).toBe("permission_denied");
  });

  it("keeps its tools in the snapshot file it names, without their health", async () => {
    const snapshot = join(folder, "tools.json");
    const config = { vectorStore: { snapshot }, telemetry: { enabled: false } };
    {
      await using first = new ToolArsenal(config);
      await first.addTool(tool, () => 1);
      await first.execute({ toolName: "look_around" });
    }
    expect(await readFile(snapshot, "utf8")).not.toContain("successRate");
    await using second = new ToolArsenal(config);
    expect(await second.listTools()).toHaveLength(1);
  });
});
