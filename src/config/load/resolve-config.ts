import { showValue } from "../../errors/show-value.ts";
import type { RoutingWeights } from "../../retrieve/result.ts";
import { checkConfig, configInvalid, type KeyStyle, type Origin } from "./check-config.ts";
import type {
  A2aConfig,
  AuditConfig,
  BuiltinCodeConfig,
  BuiltinSearchConfig,
  BuiltinsConfig,
  EmbedderConfig,
  ExecutionConfig,
  LearningConfig,
  McpConfig,
  McpServerConfig,
  PenaltyConfig,
  RerankerConfig,
  RoutingConfig,
  ScanConfig,
  SecurityConfig,
  ServerConfig,
  StateConfig,
  TelemetryConfig,
  ToolArsenalConfig,
  VectorStoreConfig,
} from "../config.ts";
import { refuseContradictions } from "./contradictions.ts";
import { refuseTooManyServers } from "../clients/server-problem.ts";
import type { OpenApiConfig } from "../openapi-config.ts";

type Filled<Section, Optional extends keyof Section = never> = Required<Omit<Section, Optional>> &
  Pick<Section, Optional>;

/** A checked configuration with every default in place. */
export interface ResolvedConfig {
  readonly vectorStore: Filled<VectorStoreConfig, "snapshot" | "file" | "url" | "apiKey" | "dimension" | "options">;
  readonly embedder: Filled<EmbedderConfig, "tier" | "cache" | "model" | "apiKey" | "apiBase">;
  readonly reranker: Filled<RerankerConfig, "model">;
  readonly routing: Filled<Omit<RoutingConfig, "weights" | "penalties" | "learning">> & {
    readonly weights: RoutingWeights;
    readonly penalties: Required<PenaltyConfig>;
    readonly learning: Required<LearningConfig>;
  };
  readonly execution: Filled<ExecutionConfig, "maxConcurrentPerEnsemble">;
  readonly telemetry: Filled<TelemetryConfig, "enabled" | "type" | "level" | "otlpEndpoint">;
  readonly security: Filled<
    Omit<SecurityConfig, "scan">,
    "policyFile" | "pins" | "approvalWebhook" | "selfApproval"
  > & {
    readonly scan: Filled<ScanConfig, "onFailure">;
  };
  readonly state: StateConfig;
  /** Set by the command line only: the file that approvals are kept in, if not with the rest of the state, and the command that approves. */
  readonly approvals?: { readonly file?: string; readonly command: string };
  readonly audit: Filled<AuditConfig, "file" | "keyFile" | "secret">;
  readonly mcp: Required<McpConfig>;
  readonly openapi: readonly OpenApiConfig[];
  readonly server: Filled<ServerConfig, "publicUrl" | "auth">;
  readonly a2a: Required<A2aConfig>;
  readonly builtins: Required<Omit<BuiltinsConfig, "code" | "webSearch">> & {
    readonly code: Required<BuiltinCodeConfig>;
    readonly webSearch: Filled<BuiltinSearchConfig, "url">;
  };
  readonly modules: readonly string[];
  readonly autoSync: boolean;
  readonly syncOnRegister: boolean;
}

/** Configurations that were checked when they were read. Checking every section again costs a start some 100 ms. */
const checkedBefore = new WeakSet<object>();

/** Marks a configuration as made of checked parts, so that `resolveConfig` takes it as it is. */
export function asChecked(config: ResolvedConfig): ResolvedConfig {
  checkedBefore.add(config);
  return config;
}

/** Checks a configuration written in code and fills in its defaults. */
export function resolveConfig(config: ToolArsenalConfig | ResolvedConfig): ResolvedConfig {
  if (checkedBefore.has(config)) return config as ResolvedConfig;
  return foldShortForm(checkConfig(config, "camel"), "camel");
}

/** The `arsenal` block says in few words what other sections say too: its settings override those there. */
export function foldShortForm(checked: Record<string, unknown>, style: KeyStyle, origin?: Origin): ResolvedConfig {
  const { arsenal, ...config } = checked as unknown as ResolvedConfig & {
    readonly arsenal: {
      readonly defaultTimeoutSeconds?: number;
      readonly maxConcurrentTools?: number;
      readonly mcpServers?: readonly McpServerConfig[];
    };
  };
  const { defaultTimeoutSeconds, maxConcurrentTools, mcpServers = [] } = arsenal;
  const shortKey = style === "snake" ? "mcp_servers" : "mcpServers";
  refuseTooManyServers(config.mcp.servers.length + mcpServers.length);
  refuseSameNames(
    [
      ...config.mcp.servers.map(({ name }, index) => ({ name, path: ["mcp", "servers", String(index), "name"] })),
      ...mcpServers.map(({ name }, index) => ({ name, path: ["arsenal", shortKey, String(index), "name"] })),
    ],
    origin,
  );
  refuseContradictions(config, style, origin);
  return {
    ...config,
    execution: {
      ...config.execution,
      ...(defaultTimeoutSeconds === undefined ? {} : { defaultTimeoutMs: defaultTimeoutSeconds * 1000 }),
      ...(maxConcurrentTools === undefined ? {} : { maxConcurrent: maxConcurrentTools }),
    },
    mcp: { ...config.mcp, servers: [...config.mcp.servers, ...mcpServers] },
  };
}

function refuseSameNames(
  servers: readonly { readonly name: string; readonly path: readonly string[] }[],
  origin: Origin | undefined,
): void {
  const seen = new Set<string>();
  for (const { name, path } of servers) {
    if (seen.has(name)) {
      const at = origin?.locate(path) ?? "";
      const fix = "Give each server its own name.";
      const message = `another MCP server is already named ${showValue(name)}`;
      throw configInvalid([{ field: path.join("."), message, value: name, fix, at }]);
    }
    seen.add(name);
  }
}
