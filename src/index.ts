/// <reference lib="esnext.disposable" preserve="true" />
export { llmOf, operationsOf, ToolArsenal } from "./arsenal.ts";
export type { ArsenalOperations } from "./facade/operations.ts";
export type { ProgramCaller, SavedProgramOperations } from "./programs/saved/operations.ts";
export type { SavedProgram, SaveProgram } from "./programs/saved/saved-program.ts";
export type {
  AnyDialect,
  AskedBy,
  DefinitionOptions,
  DefinitionWriter,
  RetrieveToolsOptions,
} from "./facade/options.ts";
export type { ExportedTools, ExportOptions } from "./facade/registrations.ts";
export type { ToolArsenalOptions, ToolArsenalParts } from "./wire/parts.ts";
export type * from "./config/config.ts";

export { ArsenalError, isArsenalError, type ErrorDetails, type ErrorIssue } from "./errors/arsenal-error.ts";
export { ERROR_CODES, type ErrorCode } from "./errors/codes.ts";
export { toWire, type WireError } from "./errors/to-wire.ts";

export { defineTool } from "./tool/define-tool.ts";
export type { SourceDraft, ToolDraft } from "./tool/draft.ts";
export type {
  AnswerReuse,
  Caller,
  Handler,
  HandlerContext,
  Progress,
  SourceAnswer,
  SourceRequest,
} from "./tool/handler.ts";
export type { ArgumentsOf, ParametersSchema, StandardSchema } from "./tool/infer.ts";
export type { JsonSchema } from "./tool/json-schema.ts";
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
export type { ToolFilter } from "./tool/tool-filter.ts";

export type { FunctionDefinition } from "./register/from-function.ts";
export type { BatchRegistration, RegisteredBatch } from "./register/register-batch.ts";
export type { RegistrationLimits } from "./register/registration-limits.ts";

export { INTENTS, type Intent, type IntentClassifier } from "./retrieve/query.ts";
export type { ConversationContext, Message, RefuseMode, RetrieveOptions, ToolQuery } from "./retrieve/query.ts";
export type { Reranker } from "./retrieve/reranker.port.ts";
export type {
  ExplainedTool,
  Explanation,
  FoundSkill,
  RetrievalResult,
  RoutingSignals,
  RoutingWeights,
  ScoredTool,
} from "./retrieve/result.ts";

export type { ApprovalAnswer, ApprovalPage, Approvals, ListApprovalsOptions, PendingApproval } from "./guard/aegis.ts";
export type { AcceptOptions, Pin, Pins } from "./guard/pins/pins.ts";
export type { MarkedTool, Refusal } from "./guard/policy.port.ts";
export { createPrincipal, localOperator, type Principal } from "./guard/principal.ts";

export type { BatchCall, ToolCall } from "./execute/call.ts";
export type { CodeCall, CodeRequest, CodeResult } from "./programs/code-mode.ts";
export { formatResult } from "./execute/results/format-result.ts";
export {
  EXECUTION_STATUSES,
  type BatchResult,
  type ExecutionStatus,
  type ResultError,
  type ToolResult,
} from "./execute/result.ts";

export { systemClock, type Clock } from "./observe/clock.ts";
export type { ArsenalEvent, EventLevel, EventMap, EventName } from "./observe/events.ts";

export type { GivenTools, ImportOptions } from "./transcode/import-tools.ts";

export type { ServedGateway, ServeOptions } from "./serve/serve-arsenal.ts";
