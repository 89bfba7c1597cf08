import { describe, expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import type { TelemetryConfig, ToolArsenalConfig } from "../config.ts";
import { configuredSinks } from "../../wire/parts.ts";
import { createSurroundings } from "../../wire/surroundings.ts";
import { chosenAdapters } from "./chosen-adapters.ts";
import { type ConfiguredState, configChanges } from "./config-changes.ts";
import { toCamel } from "./key-style.ts";
import { parseConfig } from "./load-config.ts";
import { resolveConfig } from "./resolve-config.ts";
import { fileSchema } from "./setting.ts";

/** Every `Literal[...]` of seed 000, section 9.1: the key, other lines of its section that the value needs, and the values. */
const LITERALS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["vector_store.type", ["url: http://store"], ["memory", "qdrant", "chroma", "pgvector", "pinecone", "weaviate"]],
  [
    "embedder.type",
    ["model: text-embedding-3-small", "api_base: http://models"],
    ["openai", "azure", "cohere", "huggingface", "sentence_transformers", "ollama"],
  ],
  ["reranker.type", ["model: best", "api_base: http://models"], ["cohere", "cross_encoder", "llm"]],
  ["execution.sandbox_type", [], ["none", "subprocess", "docker"]],
  ["telemetry.type", [], ["console", "opentelemetry", "datadog", "prometheus"]],
  ["mcp.mcp_mode", [], ["dynamic", "static", "hybrid"]],
];

/** Values that are resolved to other settings of their section. Every other value stays as it is. */
const MEANINGS: Readonly<Record<string, object>> = {
  pgvector: { type: "postgres", url: "http://store" },
  prometheus: { exposePrometheus: true, prometheusPort: 9090 },
};

const rows = LITERALS.flatMap(([path, needed, values]) => values.map((value) => ({ path, needed, value })));

/** Every default of seed 000, section 9.1, written out. */
const DEFAULTS = `
vector_store:
  type: memory
  url: null
  api_key: null
  collection_name: tool_arsenal
  dimension: null
  options: {}
embedder:
  type: sentence_transformers
  model: all-MiniLM-L6-v2
  api_key: null
  api_base: null
  batch_size: 100
  max_retries: 3
reranker:
  enabled: false
  type: cross_encoder
  model: null
  top_k: 10
routing:
  weights:
    semantic: 0.6
    intent: 0.15
    conversation: 0.1
    health: 0.1
    cost: 0.05
  enable_intent_classification: true
  use_llm_for_intent: false
  enable_mmr: true
  mmr_lambda: 0.7
execution:
  default_timeout_ms: 30000
  max_retries: 3
  circuit_breaker_threshold: 5
  circuit_breaker_timeout_s: 60
  enable_sandbox: false
  sandbox_type: none
telemetry:
  enabled: true
  type: console
  otlp_endpoint: null
  service_name: tool_arsenal
  expose_prometheus: false
  prometheus_port: 9090
mcp:
  servers: []
  serve_mcp: false
  mcp_mode: dynamic
a2a:
  agents: []
  serve_a2a: false
  a2a_port: 8080
auto_sync: true
sync_on_register: false
`;

/** Section 9.2, config.dev.yaml. */
const DEVELOPMENT = `
vector_store:
  type: memory

embedder:
  type: sentence_transformers
  model: all-MiniLM-L6-v2

reranker:
  enabled: false

routing:
  enable_mmr: false

execution:
  default_timeout_ms: 60000

telemetry:
  type: console

mcp:
  serve_mcp: false
`;

/** Section 9.2, config.prod.yaml. */
const PRODUCTION = `
vector_store:
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
  otlp_endpoint: \${OTLP_ENDPOINT}
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

describe("values of the seed's configuration", () => {
  it.each(rows)("accepts $path: $value in a file, in code and in editors", async ({ path, needed, value }) => {
    const [section = "", key = ""] = path.split(".");
    const text = [`${section}:`, ...[`${key}: ${value}`, ...needed].map((line) => `  ${line}`)].join("\n");
    const fromFile = await parseConfig(text, "a.yaml", {});
    expect(fromFile).toMatchObject({ [toCamel(section)]: MEANINGS[value] ?? { [toCamel(key)]: value } });
    const settings = [`${key}: ${value}`, ...needed].map((line) => line.split(": "));
    const written = Object.fromEntries(settings.map(([name = "", given]) => [toCamel(name), given]));
    expect(resolveConfig({ [toCamel(section)]: written } as ToolArsenalConfig)).toEqual(fromFile);
    const { [section]: schema } = fileSchema().properties as Record<string, JsonSchema>;
    expect(schema?.properties?.[key]).toMatchObject({ anyOf: [{ enum: expect.arrayContaining([value]) }, {}] });
  });

  it("accepts every default as the seed writes it", async () => {
    expect(await parseConfig(DEFAULTS, "a.yaml", {})).toMatchObject({
      vectorStore: { type: "memory", collectionName: "tool_arsenal", options: {} },
      embedder: { type: "sentence_transformers", model: "all-MiniLM-L6-v2", batchSize: 100, maxRetries: 3 },
      reranker: { enabled: false, type: "cross_encoder", topK: 10 },
      routing: {
        weights: { semantic: 0.6, intent: 0.15, conversation: 0.1, health: 0.1, cost: 0.05 },
        enableIntentClassification: true,
        useLlmForIntent: false,
        enableMmr: true,
        mmrLambda: 0.7,
      },
      execution: {
        defaultTimeoutMs: 30_000,
        maxRetries: 3,
        circuitBreakerThreshold: 5,
        circuitBreakerTimeoutS: 60,
        enableSandbox: false,
        sandboxType: "none",
      },
      telemetry: {
        enabled: true,
        type: "console",
        serviceName: "tool_arsenal",
        exposePrometheus: false,
        prometheusPort: 9090,
      },
      mcp: { servers: [], serveMcp: false, mcpMode: "dynamic" },
      a2a: { agents: [], serveA2a: false, a2aPort: 8080 },
      autoSync: true,
      syncOnRegister: false,
    });
  });

  it("accepts the development example", async () => {
    expect(await parseConfig(DEVELOPMENT, "config.dev.yaml", {})).toMatchObject({
      vectorStore: { type: "memory" },
      embedder: { type: "sentence_transformers", model: "all-MiniLM-L6-v2" },
      reranker: { enabled: false },
      routing: { enableMmr: false },
      execution: { defaultTimeoutMs: 60_000 },
      telemetry: { type: "console" },
      mcp: { serveMcp: false },
    });
  });

  it("accepts the production example", async () => {
    const environment = {
      QDRANT_URL: "http://qdrant:6333",
      QDRANT_API_KEY: "store-key",
      OPENAI_API_KEY: "model-key",
      OTLP_ENDPOINT: "http://collector:4318",
    };
    expect(await parseConfig(PRODUCTION, "config.prod.yaml", environment)).toMatchObject({
      vectorStore: {
        type: "qdrant",
        url: "http://qdrant:6333",
        apiKey: "store-key",
        collectionName: "production_tools",
      },
      embedder: { type: "openai", model: "text-embedding-3-small", apiKey: "model-key" },
      reranker: { enabled: true, type: "cohere", model: "rerank-english-v3.0" },
      routing: {
        weights: { semantic: 0.5, intent: 0.2, conversation: 0.1, health: 0.15, cost: 0.05 },
        enableMmr: true,
        mmrLambda: 0.7,
      },
      execution: { defaultTimeoutMs: 30_000, circuitBreakerThreshold: 3 },
      telemetry: {
        type: "opentelemetry",
        otlpEndpoint: "http://collector:4318",
        serviceName: "tool_arsenal_prod",
      },
      mcp: {
        serveMcp: true,
        mcpMode: "dynamic",
        servers: [
          { name: "database", command: ["npx", "-y", "@anthropic/mcp-database"] },
          { name: "filesystem", command: ["npx", "-y", "@anthropic/mcp-filesystem", "/data"] },
        ],
      },
      a2a: { serveA2a: false },
      security: { policy: "strict", humanInTheLoop: ["refund_user", "drop_table"] },
    });
  });
});

describe("vector_store.type: pgvector", () => {
  const url = "postgres://db/arsenal";

  it("is the engine postgres, also from the environment and to a reload", async () => {
    const stored = async (STORE: string): Promise<ConfiguredState> => {
      const text = `vector_store: { type: "\${STORE}", url: "${url}", schema: tools }`;
      return { config: await parseConfig(text, "a.yaml", { STORE }), sources: [] };
    };
    const [pgvector, postgres] = [await stored("pgvector"), await stored("postgres")];
    expect(pgvector).toEqual(postgres);
    const engine = { kind: "engines", name: "postgres", settings: { type: "postgres", url, schema: "tools" } };
    expect(chosenAdapters(pgvector.config)[0]).toMatchObject(engine);
    expect(configChanges(postgres, pgvector).needRestart).toEqual([]);
  });

  it("needs what postgres needs", () => {
    expect(() => resolveConfig({ vectorStore: { type: "pgvector" } })).toThrow(
      "vectorStore.url: is needed for postgres.",
    );
  });
});

describe("telemetry.type: prometheus", () => {
  const sinksOf = (telemetry: TelemetryConfig): readonly string[] => {
    const config = resolveConfig({ telemetry });
    const surroundings = createSurroundings(config, { clock: createManualClock() });
    return configuredSinks(config, surroundings).map(({ name }) => name);
  };

  it("serves metrics and writes no events, whatever the seed's other defaults say", () => {
    const telemetry = { enabled: true, type: "prometheus", exposePrometheus: false, prometheusPort: 9191 } as const;
    expect(resolveConfig({ telemetry }).telemetry).toEqual(
      resolveConfig({ telemetry: { exposePrometheus: true, prometheusPort: 9191 } }).telemetry,
    );
    expect(sinksOf(telemetry)).toEqual([]);
    expect(sinksOf({ enabled: true })).toEqual(["console"]);
  });

  it("serves nothing if telemetry is off", () => {
    expect(resolveConfig({ telemetry: { enabled: false, type: "prometheus" } }).telemetry).toMatchObject({
      enabled: false,
      exposePrometheus: false,
    });
  });
});
