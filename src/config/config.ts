import type { InputOf } from "../tool/shape/shape.ts";
import type { CONFIG_SCHEMA } from "./schema.ts";

/** All settings, each optional. Files write the same keys in snake_case: see config.schema.json and docs/reference/configuration.md. */
export type ToolArsenalConfig = InputOf<typeof CONFIG_SCHEMA>;

type Section<Name extends keyof ToolArsenalConfig> = NonNullable<ToolArsenalConfig[Name]>;
type Subsection<Of, Name extends keyof Of> = NonNullable<Of[Name]>;

export type VectorStoreConfig = Section<"vectorStore">;
export type EmbedderConfig = Section<"embedder">;
export type RerankerConfig = Section<"reranker">;
export type LlmConfig = Section<"llm">;
export type RoutingConfig = Section<"routing">;
export type PenaltyConfig = Subsection<RoutingConfig, "penalties">;
export type LearningConfig = Subsection<RoutingConfig, "learning">;
export type ExecutionConfig = Section<"execution">;
export type TelemetryConfig = Section<"telemetry">;
export type SecurityConfig = Section<"security">;
export type RateConfig = Subsection<SecurityConfig, "rates">;
export type ScanConfig = Subsection<SecurityConfig, "scan">;
export type StateConfig = Section<"state">;
export type AuditConfig = Section<"audit">;
export type McpConfig = Section<"mcp">;
export type McpServerConfig = Subsection<McpConfig, "servers">[number];
export type McpOAuthConfig = Subsection<McpServerConfig, "oauth">;
export type ToolsetConfig = Section<"toolsets">[number];
export type OpenApiConfig = Section<"openapi">[number];
export type ServerConfig = Section<"server">;
export type CallerAuthConfig = Subsection<ServerConfig, "auth">;
export type CallerJwtConfig = Subsection<CallerAuthConfig, "jwt">;
export type A2aConfig = Section<"a2a">;
export type A2aAgentConfig = Subsection<A2aConfig, "agents">[number];
export type ScriptsConfig = Section<"scripts">[number];
export type BuiltinsConfig = Section<"builtins">;
export type ShortFormConfig = Section<"arsenal">;
