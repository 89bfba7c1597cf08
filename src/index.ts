export { ToolArsenal } from "./arsenal.ts";
export type { AskedBy, DefinitionOptions, DefinitionWriter, RetrieveToolsOptions } from "./arsenal-options.ts";
export type { ToolArsenalParts } from "./config/arsenal-parts.ts";

export { ArsenalError, isArsenalError, type ErrorDetails, type ErrorIssue } from "./errors/arsenal-error.ts";
export { ERROR_CODES, type ErrorCode } from "./errors/codes.ts";
export { toWire, type WireError } from "./errors/to-wire.ts";

export { defineTool } from "./tool/define-tool.ts";
export type { SourceDraft, ToolDraft } from "./tool/draft.ts";
export type { Handler, HandlerContext, Progress } from "./tool/handler.ts";
export type { ArgumentsOf, ParametersSchema, StandardSchema } from "./tool/infer.ts";
export type { JsonSchema } from "./tool/json-schema.ts";
export { normaliseTool } from "./tool/normalise-tool.ts";
export {
  CAPABILITIES,
  qualifiedName,
  RISK_LEVELS,
  TOOL_SOURCES,
  type Annotations,
  type Capability,
  type Cost,
  type Dependency,
  type Health,
  type RiskLevel,
  type Tool,
  type ToolSource,
} from "./tool/tool.ts";

export type { FunctionDefinition } from "./register/from-function.ts";
export type { BatchRegistration, RegisteredBatch } from "./register/register-batch.ts";
export type { OfferedTool, Source } from "./register/source.port.ts";

export type { Embedder, EmbedOptions } from "./catalog/embedder.port.ts";
export type { Tier } from "./catalog/tiers.ts";
export type { ListQuery, ToolStore } from "./catalog/tool-store.port.ts";
export type { NearestQuery, ScoredId, VectorEntry, VectorIndex } from "./catalog/vector-index.port.ts";

export { INTENTS, type Intent, type IntentClassifier } from "./retrieve/intent.ts";
export type { ConversationContext, Message, ToolQuery } from "./retrieve/query.ts";
export type { Reranker } from "./retrieve/reranker.port.ts";
export type {
  ExplainedTool,
  Explanation,
  RetrievalResult,
  RoutingSignals,
  RoutingWeights,
  ScoredTool,
} from "./retrieve/result.ts";

export { toAlias } from "./transcode/alias.ts";
export type { Dialect } from "./transcode/dialect.port.ts";

export type { Approvals, PendingApproval } from "./guard/aegis.ts";
export type { Credentials, Identity } from "./guard/identity.port.ts";
export type { Policy, PolicyDecision, PolicyRequest } from "./guard/policy.port.ts";
export { localOperator, type Principal } from "./guard/principal.ts";

export type { BatchCall, ToolCall } from "./execute/call.ts";
export type { Executor, RunRequest } from "./execute/executor.port.ts";
export { formatResult } from "./execute/format-result.ts";
export {
  EXECUTION_STATUSES,
  type BatchResult,
  type ExecutionStatus,
  type ResultError,
  type ToolResult,
} from "./execute/result.ts";
export type {
  AnyCheck,
  Check,
  Checked,
  CompileOptions,
  ImmediateValidator,
  Problem,
  Validator,
} from "./execute/validator.port.ts";

export { systemClock, type Clock } from "./observe/clock.ts";
export type { ArsenalEvent, EventLevel, EventMap, EventName } from "./observe/events.ts";
export type { Sink } from "./observe/sink.port.ts";

export { anthropic } from "./adapters/dialects/anthropic.ts";
export { gemini } from "./adapters/dialects/gemini.ts";
export { openai } from "./adapters/dialects/openai.ts";
export { cachedEmbedder, type CachedEmbedderOptions } from "./adapters/embedders/cached.ts";
export { staticEmbedder } from "./adapters/embedders/static.ts";
export { tunedEmbedder, type TunedEmbedderOptions } from "./adapters/embedders/tuned.ts";
export { direct } from "./adapters/executors/direct.ts";
export { bearerToken, type BearerTokenOptions } from "./adapters/identity/bearer-token.ts";
export { patterns, type PatternsOptions } from "./adapters/policies/patterns.ts";
export { consoleSink, type ConsoleSinkOptions } from "./adapters/sinks/console.ts";
export type {
  HttpSettings,
  McpServerSettings,
  OAuthSettings,
  StdioSettings,
  WebSocketSettings,
} from "./adapters/sources/mcp/settings.ts";
export type { McpUpstream, UpstreamState } from "./adapters/sources/mcp/upstream.ts";
export { memory, type MemoryOptions } from "./adapters/stores/memory.ts";
export { memoryVectors } from "./adapters/stores/memory-vectors.ts";
export { simdVectors, type SimdVectorsOptions } from "./adapters/stores/simd-vectors.ts";
export { ajv } from "./adapters/validators/ajv.ts";
export { guarded, type GuardedOptions } from "./adapters/validators/guarded/guarded.ts";
export { interpreter, type InterpreterOptions } from "./adapters/validators/interpreter/interpreter.ts";

export type { ServedMcp, ServeMcpOptions } from "./serve/serve-mcp.ts";

export type * from "./config/config.ts";
