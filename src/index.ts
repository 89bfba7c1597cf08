/// <reference lib="esnext.disposable" preserve="true" />
export { ToolArsenal } from "./arsenal.ts";
export type { AskedBy, DefinitionOptions, DefinitionWriter, RetrieveToolsOptions } from "./arsenal-options.ts";
export type { ToolArsenalParts } from "./config/parts/arsenal-parts.ts";

export { ArsenalError, isArsenalError, type ErrorDetails, type ErrorIssue } from "./errors/arsenal-error.ts";
export { ERROR_CODES, type ErrorCode } from "./errors/codes.ts";
export { toWire, type WireError } from "./errors/to-wire.ts";

export { defineTool } from "./tool/define-tool.ts";
export type { SourceDraft, ToolDraft } from "./tool/draft.ts";
export type { Caller, Handler, HandlerContext, Progress, SourceAnswer, SourceRequest } from "./tool/handler.ts";
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
export type { RegistrationLimits } from "./register/registration-limits.ts";
export type { OfferedTool, Source } from "./register/source.port.ts";

export type { Embedder, EmbedOptions } from "./catalog/embedder.port.ts";
export type { Tier } from "./catalog/dense/tiers.ts";
export type { ListQuery, ToolStore } from "./catalog/tool-store.port.ts";
export type { NearestQuery, ScoredId, VectorEntry, VectorIndex } from "./catalog/vector-index.port.ts";

export { INTENTS, type Intent, type IntentClassifier } from "./retrieve/understand/intent.ts";
export type { ConversationContext, Message, RefuseMode, ToolQuery } from "./retrieve/query.ts";
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
export { answerCalls } from "./transcode/answer-calls.ts";
export { convertSet, type ConvertSetOptions } from "./transcode/convert-set.ts";
export type {
  AnsweredCall,
  CallStream,
  Converted,
  ConvertOptions,
  Dialect,
  ReadCall,
  SetLimits,
  StreamingDialect,
} from "./transcode/dialect.port.ts";
export type { SchemaFeature } from "./transcode/features.ts";
export type { Loss } from "./transcode/losses.ts";
export { repairArguments, type Repair } from "./transcode/repair-arguments.ts";

export type { ApprovalAnswer, Approvals, PendingApproval } from "./guard/aegis.ts";
export type { AcceptOptions, OfferedEnsemble, Pin, Pins, ReviewedEnsemble } from "./guard/pins/pins.ts";
export type { ApprovalRecord, AuditHead, AuditLog, AuditRecord, CallRecord } from "./guard/audit.port.ts";
export { ed25519Key, hmacKey, type AuditKey } from "./guard/audit/key.ts";
export { verify as verifyAudit, type FileVerification } from "./guard/audit/verify.ts";
export type { VerifyOptions } from "./guard/audit/verifier.ts";
export type { EgressRules } from "./guard/egress/check-url.ts";
export {
  createEgress,
  type Egress,
  type EgressRequest,
  type EgressResponse,
  type ProgramRules,
} from "./guard/egress/egress.ts";
export { createFileRoots, type FileRoots } from "./guard/file-roots.ts";
export type { Credentials, Identified, Identity, Refusal, TokenOrigin } from "./guard/identity.port.ts";
export type {
  Obligations,
  Policy,
  PolicyDecision,
  PolicyRequest,
  RateObligation,
  Redaction,
} from "./guard/policy.port.ts";
export type { PlacedFinding, ScannerRule, TextScanner } from "./guard/scanner.port.ts";
export { localOperator, type Principal } from "./guard/principal.ts";
export {
  createScanner,
  type ScanMode,
  type Scanner,
  type ScannerOptions,
  type ScanReport,
} from "./guard/scan/scanner.ts";
export { wrapUntrusted } from "./guard/scan/wrap-untrusted.ts";
export type { SecretReference } from "./guard/secrets/reference.ts";
export type { ListedState, State, StateEntry, StateOptions, StateSetOptions } from "./state/state.port.ts";

export type { BatchCall, ToolCall } from "./execute/call.ts";
export type { Executor, RunRequest } from "./execute/executor.port.ts";
export {
  SANDBOX_LIMITS,
  type CommandJob,
  type JavaScriptJob,
  type Sandbox,
  type SandboxJob,
  type SandboxLimits,
  type SandboxOutcome,
} from "./execute/sandbox.port.ts";
export { formatResult } from "./execute/results/format-result.ts";
export {
  EXECUTION_STATUSES,
  type BatchResult,
  type ExecutionStatus,
  type ResultError,
  type ToolResult,
} from "./execute/result.ts";
export type { Check, Checked, CompileOptions, Problem, Validator } from "./execute/validator.port.ts";

export { systemClock, type Clock } from "./observe/clock.ts";
export type { ArsenalEvent, EventLevel, EventMap, EventName } from "./observe/events.ts";
export type { Sink } from "./observe/sink.port.ts";

export { fileAudit, type FileAuditOptions } from "./adapters/audit/file/file.ts";
export { aiSdk } from "./adapters/dialects/ai-sdk.ts";
export { anthropic } from "./adapters/dialects/anthropic.ts";
export { inferDialect } from "./adapters/dialects/auto.ts";
export { bedrock } from "./adapters/dialects/bedrock.ts";
export type { DialectName, DialectTools } from "./adapters/dialects/built-in.ts";
export { cohere } from "./adapters/dialects/cohere.ts";
export { gemini } from "./adapters/dialects/gemini.ts";
export { langchain } from "./adapters/dialects/langchain.ts";
export { mcp as mcpDialect } from "./adapters/dialects/mcp.ts";
export { mistral } from "./adapters/dialects/mistral.ts";
export { ollama } from "./adapters/dialects/ollama.ts";
export { openai } from "./adapters/dialects/openai.ts";
export { openaiResponses } from "./adapters/dialects/openai-responses.ts";
export { openapi as openapiDialect } from "./adapters/dialects/openapi.ts";
export { cachedEmbedder, type CachedEmbedderOptions } from "./adapters/embedders/cached.ts";
export { staticEmbedder } from "./adapters/embedders/static.ts";
export { tunedEmbedder, type TunedEmbedderOptions } from "./adapters/embedders/tuned.ts";
export { direct } from "./adapters/executors/direct.ts";
export { sandboxed, type SandboxedSettings } from "./adapters/executors/sandboxed.ts";
export { apiKeyFile, apiKeys, type StoredKey } from "./adapters/identity/api-keys/api-keys.ts";
export { bearerToken, type BearerTokenOptions } from "./adapters/identity/bearer-token.ts";
export { jwt, type JwtOptions } from "./adapters/identity/jwt/jwt.ts";
export { cedar, type CedarParts } from "./adapters/policies/cedar/cedar.ts";
export type { CedarLibrary } from "./adapters/policies/cedar/library.ts";
export { patterns, type PatternsOptions } from "./adapters/policies/patterns.ts";
export { rules, type RulesParts, type RulesPolicy } from "./adapters/policies/rules/rules.ts";
export { bubblewrap, type BubblewrapSettings } from "./adapters/sandboxes/bubblewrap/bubblewrap.ts";
export { docker, type DockerSettings } from "./adapters/sandboxes/docker/docker.ts";
export { isolate } from "./adapters/sandboxes/isolate/isolate.ts";
export { none } from "./adapters/sandboxes/none/none.ts";
export { subprocess } from "./adapters/sandboxes/subprocess/subprocess.ts";
export { consoleSink, type ConsoleSinkOptions } from "./adapters/sinks/console.ts";
export { builtins } from "./adapters/sources/builtin/builtin.ts";
export type { BuiltinParts, BuiltinSettings } from "./adapters/sources/builtin/settings.ts";
export type {
  HttpSettings,
  McpServerSettings,
  OAuthSettings,
  StdioSettings,
  WebSocketSettings,
} from "./adapters/sources/mcp/settings.ts";
export type { McpUpstream, UpstreamState } from "./adapters/sources/mcp/upstream/upstream.ts";
export type {
  BasicCredential,
  ClientCredential,
  Credential,
  OpenApiSettings,
  OperationFilter,
} from "./adapters/sources/openapi/settings.ts";
export { wordingScanner } from "./adapters/scanners/wording/wording.ts";
export { memoryState, type MemoryStateOptions } from "./adapters/state/memory.ts";
export { sqliteState, type SqliteStateOptions } from "./adapters/state/sqlite.ts";
export { memory, type MemoryOptions } from "./adapters/stores/memory.ts";
export { memoryVectors } from "./adapters/stores/memory-vectors.ts";
export { simdVectors, type SimdVectorsOptions } from "./adapters/stores/simd-vectors.ts";
export { jsonSchemaValidator, type JsonSchemaValidatorOptions } from "./adapters/validators/json-schema/json-schema.ts";

export type { ServedMcp, ServeMcpOptions } from "./serve/serve-mcp.ts";

export type { DocumentReport } from "./config/parts/load-documents.ts";
export type { Started } from "./config/parts/start-configured.ts";

export type * from "./config/config.ts";
