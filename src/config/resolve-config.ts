import { ArsenalError } from "../errors/arsenal-error.ts";
import type { RoutingWeights } from "../retrieve/result.ts";
import { checkConfig, type KeyStyle } from "./check-config.ts";
import type {
  A2aConfig,
  EmbedderConfig,
  ExecutionConfig,
  McpConfig,
  McpServerConfig,
  PenaltyConfig,
  RerankerConfig,
  RoutingConfig,
  SecurityConfig,
  TelemetryConfig,
  ToolArsenalConfig,
  VectorStoreConfig,
} from "./config.ts";

type Filled<Section, Optional extends keyof Section = never> = Required<Omit<Section, Optional>> &
  Pick<Section, Optional>;

/** A checked configuration with every default in place. */
export interface ResolvedConfig {
  readonly vectorStore: Filled<VectorStoreConfig, "snapshot" | "url" | "apiKey" | "dimension" | "options">;
  readonly embedder: Filled<EmbedderConfig, "model" | "apiKey" | "apiBase">;
  readonly reranker: Filled<RerankerConfig, "model">;
  readonly routing: Filled<Omit<RoutingConfig, "weights" | "penalties">> & {
    readonly weights: RoutingWeights;
    readonly penalties: Required<PenaltyConfig>;
  };
  readonly execution: Filled<ExecutionConfig, "maxConcurrentPerEnsemble">;
  readonly telemetry: Filled<TelemetryConfig, "otlpEndpoint">;
  readonly security: Required<SecurityConfig>;
  readonly mcp: Required<McpConfig>;
  readonly a2a: Required<A2aConfig>;
  readonly modules: readonly string[];
  readonly autoSync: boolean;
  readonly syncOnRegister: boolean;
}

/** Checks a configuration written in code and fills in its defaults. */
export function resolveConfig(config: ToolArsenalConfig): ResolvedConfig {
  return foldShortForm(checkConfig(config, "camel"), "camel");
}

/** The `arsenal` block says in few words what other sections say too: its settings override those there. */
export function foldShortForm(checked: Record<string, unknown>, style: KeyStyle): ResolvedConfig {
  const { arsenal, ...config } = checked as unknown as ResolvedConfig & {
    readonly arsenal: {
      readonly defaultTimeoutSeconds?: number;
      readonly maxConcurrentTools?: number;
      readonly mcpServers?: readonly McpServerConfig[];
    };
  };
  const servers = [...config.mcp.servers, ...(arsenal.mcpServers ?? [])];
  const seen = new Set<string>();
  for (const { name } of servers) {
    if (seen.has(name)) {
      const field = style === "snake" ? "arsenal.mcp_servers" : "arsenal.mcpServers";
      throw new ArsenalError("CONFIG_INVALID", `${field}: two MCP servers are named "${name}". Rename one of them.`, {
        field,
        value: name,
        fix: "Give each server its own name.",
      });
    }
    seen.add(name);
  }
  return {
    ...config,
    execution: {
      ...config.execution,
      ...(arsenal.defaultTimeoutSeconds === undefined
        ? {}
        : { defaultTimeoutMs: arsenal.defaultTimeoutSeconds * 1000 }),
      ...(arsenal.maxConcurrentTools === undefined ? {} : { maxConcurrent: arsenal.maxConcurrentTools }),
    },
    mcp: { ...config.mcp, servers },
  };
}
