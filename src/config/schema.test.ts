import { expect, it } from "vitest";
import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import type { ToolArsenalConfig } from "./config.ts";
import { fileSchema, toSnake } from "./load/key-style.ts";
import { resolveConfig } from "./load/resolve-config.ts";
import { listSettings } from "./load/setting.ts";

type Complete<Type> = Type extends readonly (infer Item)[]
  ? readonly [Complete<Item>]
  : Type extends string | number | boolean
    ? Type
    : string extends keyof Type
      ? Type
      : { readonly [Key in keyof Type]-?: Complete<NonNullable<Type[Key]>> };

const OAUTH = {
  clientId: "id",
  clientSecret: "secret",
  issuer: "https://issuer",
  clientMetadataUrl: "https://client",
  scope: "read",
  grant: "client_credentials",
  redirectPort: 1,
  tokenFile: "tokens.json",
} as const;

/** Has every key of the interface: leaving one out, or writing one that is not there, does not compile. */
const COMPLETE: Complete<ToolArsenalConfig> = {
  vectorStore: {
    type: "memory",
    snapshot: "tools.json",
    file: "catalog.sqlite",
    url: "http://store",
    apiKey: "key",
    collectionName: "tools",
    dimension: 384,
    options: {},
  },
  embedder: {
    type: "openai",
    tier: "static",
    cache: "vectors",
    model: "small",
    apiKey: "key",
    apiBase: "http://api",
    batchSize: 10,
    maxRetries: 1,
  },
  reranker: { enabled: true, type: "llm", model: "big", topK: 5 },
  routing: {
    weights: { semantic: 1, intent: 0, conversation: 0, health: 0, cost: 0 },
    penalties: { alreadyUsed: 0, alreadyFailed: 0, deprecated: 0 },
    enableIntentClassification: true,
    useLlmForIntent: true,
    enableMmr: true,
    mmrLambda: 0.5,
    scoreThreshold: 0.5,
    refuse: "confident",
    learning: { enabled: true, halfLifeDays: 7, weight: 0.1 },
  },
  execution: {
    defaultTimeoutMs: 1000,
    maxRetries: 2,
    retryBaseMs: 10,
    circuitBreakerThreshold: 5,
    circuitBreakerTimeoutS: 60,
    maxConcurrent: 5,
    maxConcurrentPerEnsemble: 2,
    retryBudget: 0.1,
    maxResultBytes: 4096,
    onFailure: "throw",
    enableSandbox: true,
    sandboxType: "docker",
  },
  telemetry: {
    enabled: true,
    type: "console",
    level: "info",
    otlpEndpoint: "http://otlp",
    serviceName: "tools",
    exposePrometheus: true,
    prometheusPort: 9090,
  },
  security: {
    policy: "strict",
    policyFile: "policy.yaml",
    requireConfirmation: ["a"],
    humanInTheLoop: ["b"],
    allow: ["c"],
    deny: ["d"],
    allowedDomains: ["example.com"],
    maxRequestsPerMinute: 60,
    rates: { tenant: 600, principal: 300, toolset: 200 },
    pins: "all",
    scan: {
      definitions: "block",
      arguments: "block",
      results: "wrap",
      wording: "flag",
      severity: "medium",
      onFailure: "deny",
    },
    certificatePins: {},
    approvalWebhook: { url: "https://approvals.example.com", secret: "0123456789abcdef0123456789abcdef" },
    confirmationTimeoutS: 60,
    selfApproval: "local",
  },
  state: { file: "state.sqlite" },
  audit: {
    file: "audit.jsonl",
    keyFile: "audit.key",
    secret: "0123456789abcdef0123456789abcdef",
    checkpointEvery: 10,
    fsync: "close",
    maxFileBytes: 1_024,
    arguments: "full",
  },
  mcp: {
    servers: [
      {
        name: "files",
        type: "stdio",
        command: "npx",
        args: ["-y"],
        env: {},
        cwd: "/srv",
        url: "http://files",
        endpoint: "http://files",
        headers: {},
        oauth: OAUTH,
        namespace: "files",
        timeoutMs: 1,
        connectTimeoutMs: 1,
        maxConcurrent: 1,
        maxMessageBytes: 1024,
        maxTools: 1,
        trustAnnotations: true,
        disabled: false,
      },
    ],
    serveMcp: true,
    mcpMode: "static",
    commonTools: ["files.read"],
    startupWaitMs: 0,
  },
  openapi: [
    {
      name: "pets",
      document: "pets.yaml",
      namespace: "animals",
      baseUrl: "https://pets.example.com",
      serverVariables: {},
      credentials: {},
      headers: {},
      include: { tags: ["a"], paths: ["/a"], methods: ["GET"], operationIds: ["a"] },
      exclude: { tags: ["b"], paths: ["/b"], methods: ["PUT"], operationIds: ["b"] },
      trustMethods: true,
      filesFrom: "files",
      maxToolBytes: 1024,
      maxDocumentBytes: 1024,
      maxAnswerBytes: 1024,
      timeoutMs: 1,
      maxConcurrent: 1,
      disabled: false,
    },
  ],
  server: {
    host: "localhost",
    port: 0,
    publicUrl: "https://tools.example.com",
    allowedHosts: ["a"],
    allowedOrigins: ["http://a"],
    drainTimeoutS: 30,
    tokens: {},
    auth: {
      apiKeys: { file: "keys.json" },
      jwt: {
        issuer: "https://login.example.com",
        audience: ["tools"],
        jwksUri: "https://login.example.com/keys",
        algorithms: ["ES256"],
        scopes: ["tools:use"],
        capabilities: ["read_data"],
        claims: { id: "email", tenant: "org", roles: "groups", capabilities: "may", scopes: "scp" },
      },
    },
  },
  a2a: {
    agents: [{ name: "agent", url: "http://agent", headers: {}, namespace: "agent" }],
    serveA2a: true,
    a2aPort: 1,
  },
  builtins: {
    tools: ["http-get"],
    webSearch: { apiKey: "env:KEY", url: "https://search" },
    files: { roots: ["docs"], maxBytes: 1 },
    http: { allowedDomains: ["example.com"], maxBytes: 1 },
    code: { sandbox: "docker" },
  },
  arsenal: {
    defaultTimeoutSeconds: 30,
    maxConcurrentTools: 5,
    mcpServers: [
      {
        name: "other",
        type: "http",
        command: "npx",
        args: ["-y"],
        env: {},
        cwd: "/srv",
        url: "http://other",
        endpoint: "http://other",
        headers: {},
        oauth: OAUTH,
        namespace: "other",
        timeoutMs: 1,
        connectTimeoutMs: 1,
        maxConcurrent: 1,
        maxMessageBytes: 1024,
        maxTools: 1,
        trustAnnotations: true,
        disabled: false,
      },
    ],
  },
  modules: ["./tools.ts"],
  autoSync: true,
  syncOnRegister: true,
};

function pathsOf(value: unknown, prefix = ""): readonly string[] {
  if (!isPlainObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const path = prefix + toSnake(key);
    const items = Array.isArray(member) ? pathsOf(member[0], `${path}[].`) : [];
    return [path, ...pathsOf(member, `${path}.`), ...items];
  });
}

it("the schema has exactly the keys of the interface", () => {
  expect(listSettings().map(({ path }) => path)).toEqual(pathsOf(COMPLETE));
});

it("the schema accepts a configuration that uses every key", () => {
  expect(resolveConfig(COMPLETE).execution.maxConcurrentPerEnsemble).toBe(2);
});

it("the schema for files spells every key in snake_case, and those of MCP clients as they have them", () => {
  const keys = (schema: JsonSchema, prefix = ""): readonly string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
      const property = member as JsonSchema;
      const items = isPlainObject(property.items) ? keys(property.items as JsonSchema, `${prefix}${key}[].`) : [];
      return [prefix + key, ...keys(property, `${prefix}${key}.`), ...items];
    });
  const ours = listSettings().map(({ path }) => path);
  expect(keys(fileSchema())).toEqual([...ours, "mcpServers", "servers", "inputs"]);
});

it("the schema for files lets a reference to the environment stand for a number", () => {
  const { execution } = fileSchema().properties as Record<string, JsonSchema>;
  expect(execution?.properties?.["max_retries"]).toEqual({
    description: "Attempts in all at a call that is safe to repeat.",
    default: 3,
    anyOf: [
      { type: "integer", minimum: 1, maximum: 5 },
      { type: "string", pattern: "^\\$\\{" },
    ],
  });
});

it("every key has a description", () => {
  expect(listSettings().filter(({ schema }) => !schema.description)).toEqual([]);
});

it.each([
  ["maxRetries", "max_retries"],
  ["a2aPort", "a2a_port"],
  ["serveA2a", "serve_a2a"],
  ["circuitBreakerTimeoutS", "circuit_breaker_timeout_s"],
  ["url", "url"],
])("%s is %s in a file", (camel, snake) => {
  expect(toSnake(camel)).toBe(snake);
});
