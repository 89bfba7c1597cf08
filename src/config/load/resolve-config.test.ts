import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { ToolArsenalConfig } from "../config.ts";
import { resolveConfig } from "./resolve-config.ts";

function refusal(config: unknown): unknown {
  try {
    resolveConfig(config as ToolArsenalConfig);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("resolveConfig", () => {
  it("gives every default where nothing is configured", () => {
    expect(resolveConfig({})).toEqual({
      vectorStore: {
        type: "memory",
        file: "./.toolarsenal/catalog.sqlite",
        collectionName: "tool_arsenal",
        schema: "toolarsenal",
        vectors: true,
      },
      embedder: { type: "sentence_transformers", batchSize: 100, maxRetries: 3 },
      reranker: { enabled: false, topK: 10, timeoutMs: 5000 },
      llm: { strict: false, timeoutMs: 120_000, maxRetries: 2 },
      routing: {
        weights: { semantic: 0.6, intent: 0.15, conversation: 0.1, health: 0.1, cost: 0.05 },
        penalties: { alreadyUsed: 0.05, alreadyFailed: 0.3, deprecated: 0.2 },
        enableIntentClassification: true,
        useLlmForIntent: false,
        enableMmr: true,
        mmrLambda: 0.7,
        scoreThreshold: 0.5,
        refuse: "confident",
        learning: { enabled: false, halfLifeDays: 14, weight: 0.08 },
      },
      execution: {
        defaultTimeoutMs: 30_000,
        maxRetries: 3,
        retryBaseMs: 200,
        circuitBreakerThreshold: 5,
        circuitBreakerTimeoutS: 60,
        maxConcurrent: 256,
        retryBudget: 0.2,
        maxResultBytes: 16_777_216,
        onFailure: "return",
        enableSandbox: false,
        sandboxType: "none",
      },
      teams: {},
      telemetry: {
        exposePrometheus: false,
        prometheusPort: 9090,
        debugProtocol: false,
        history: { max: 10_000, maxAgeDays: 7, text: true },
        logFormat: "auto",
        logLevels: {},
      },
      egress: {},
      security: {
        policy: "standard",
        requireConfirmation: ["delete_*", "payment_*", "drop_*", "refund_*"],
        humanInTheLoop: [],
        allow: [],
        deny: [],
        allowedDomains: [],
        rates: { searches: 1_200 },
        scan: { definitions: "flag", arguments: "off", results: "off", wording: "off", severity: "high" },
        certificatePins: {},
        confirmationTimeoutS: 600,
      },
      state: {},
      audit: {
        checkpointEvery: 1_000,
        fsync: "batch",
        maxFileBytes: 67_108_864,
        arguments: "shape",
        onFailure: "refuse",
      },
      sources: [],
      mcp: {
        servers: [],
        serveMcp: false,
        mcpMode: "dynamic",
        commonTools: [],
        clientQuirks: true,
        startupWaitMs: 10_000,
        taskAfterMs: 5_000,
        taskTtlS: 3_600,
      },
      programs: {
        calls: 1_000,
        cpuMs: 5_000,
        depth: 5,
        logBytes: 16_384,
        memoryBytes: 67_108_864,
        parallelCalls: 8,
        sandbox: "quickjs",
        timeoutS: 300,
        valueBytes: 65_536,
      },
      server: {
        host: "127.0.0.1",
        port: 8080,
        allowedHosts: [],
        allowedOrigins: [],
        drainTimeoutS: 8,
        metrics: "operator",
        operatorRole: "operator",
        allowCommands: false,
        shutdownDelayS: 0,
        tokens: {},
      },
      a2a: {
        agents: [],
        serveA2a: false,
        a2aPort: 8080,
        name: "ToolArsenal",
        pushOrigins: [],
        taskTtlS: 86_400,
        messagesPerMinute: 600,
      },
      builtins: {
        tools: [],
        webSearch: { apiKey: "env:TAVILY_API_KEY" },
        files: { roots: [], maxBytes: 1_048_576 },
        http: { maxBytes: 1_048_576 },
        code: { sandbox: "isolate" },
      },
      toolsets: [],
      ensembles: [],
      scripts: [],
      openapi: [],
      modules: [],
      autoSync: true,
      syncOnRegister: false,
    });
  });

  it("keeps the other defaults of a section that is given in part", () => {
    const { routing, execution } = resolveConfig({ routing: { weights: { cost: 0.5 } }, execution: { maxRetries: 1 } });
    expect(routing.weights).toEqual({ semantic: 0.6, intent: 0.15, conversation: 0.1, health: 0.1, cost: 0.5 });
    expect(execution.defaultTimeoutMs).toBe(30_000);
  });

  it("takes undefined and null as not given", () => {
    const config = { autoSync: undefined, execution: null } as unknown as ToolArsenalConfig;
    expect(resolveConfig(config)).toEqual(resolveConfig({}));
  });

  it("does not write its defaults into the given object", () => {
    const config: ToolArsenalConfig = { execution: {} };
    resolveConfig(config);
    expect(config).toEqual({ execution: {} });
  });

  it("resolves its own result to the same", () => {
    const once = resolveConfig({ security: { deny: ["x"] }, arsenal: { maxConcurrentTools: 9 } });
    expect(resolveConfig(once)).toEqual(once);
  });

  it("folds the arsenal block into the sections it abbreviates, which it overrides", () => {
    const { execution, mcp, ...rest } = resolveConfig({
      execution: { defaultTimeoutMs: 1000, maxConcurrent: 1, maxRetries: 2 },
      mcp: { servers: [{ name: "first", url: "http://first" }] },
      arsenal: { defaultTimeoutSeconds: 12, maxConcurrentTools: 3, mcpServers: [{ name: "second", command: "uvx" }] },
    });
    expect(execution).toMatchObject({ defaultTimeoutMs: 12_000, maxConcurrent: 3, maxRetries: 2 });
    expect(mcp.servers.map(({ name }) => name)).toEqual(["first", "second"]);
    expect(rest).not.toHaveProperty("arsenal");
  });

  it("refuses two MCP servers of one name and says which is the second", () => {
    const config = { mcp: { servers: [{ name: "a" }] }, arsenal: { mcpServers: [{ name: "b" }, { name: "a" }] } };
    expect(refusal(config)).toMatchObject({
      code: "CONFIG_INVALID",
      message: 'arsenal.mcpServers.1.name: another MCP server is already named "a". Give each server its own name.',
      details: { field: "arsenal.mcpServers.1.name", value: "a" },
    });
  });

  it("spells keys as the code does", () => {
    expect(refusal({ execution: { max_retries: 2 } })).toMatchObject({
      message: 'execution.max_retries: unknown key "max_retries". Did you mean "maxRetries"?',
    });
    expect(refusal({ execution: { maxRetries: 9 } })).toMatchObject({
      message:
        "execution.maxRetries: must be a whole number from 1 to 5, not 9. Set execution.maxRetries to a whole number from 1 to 5.",
      details: { field: "execution.maxRetries", value: 9 },
    });
  });

  it("resolves any JSON value or refuses it with CONFIG_INVALID and a field", () => {
    const sections = "execution security mcp a2a arsenal vectorStore routing modules autoSync";
    const keys = "maxRetries deny servers name command headers agents mcpServers options weights";
    const odd = ["__proto__", "constructor", "toString", "", "a.b"];
    const word = fc.constantFrom(...sections.split(" "), ...keys.split(" "), ...odd);
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.oneof(fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(word, tie("value"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(fc.oneof(value, fc.dictionary(word, value)), (config) => {
        const json: unknown = JSON.parse(JSON.stringify(config));
        const error = refusal(json);
        if (error === undefined) return;
        expect(isArsenalError(error)).toBe(true);
        expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { field: expect.any(String) } });
        expect((error as { details: { fix: string } }).details.fix.length).toBeGreaterThan(0);
      }),
    );
  });
});
