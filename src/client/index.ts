/// <reference lib="esnext.disposable" preserve="true" />
export { createClient } from "./create-client.ts";
export type { BodyReader, ClientOptions, Fetch, FetchedResponse } from "./fetched.ts";
export type {
  AddOptions,
  Arsenal,
  ArsenalClient,
  RemoteApprovals,
  RemoteBatch,
  RemoteCall,
  RemoteListOptions,
  RemoteView,
  RemotePins,
  RemoteProgram,
  RemoteQuery,
  RemoteRetrieveToolsOptions,
  RemoteToolsets,
  SubscribeOptions,
  Unsubscribe,
} from "./arsenal.ts";
export type { CostSum, EnsembleStatus, GatewayOverview, HistoryEntry, TraceHistory } from "../serve/administration.ts";
export type { WorkflowWithRuns, WorkflowRunView } from "../serve/administration.ts";
export type { WorkflowStepView, WorkflowView, WorkflowViews } from "../adapters/sources/workflows/view.ts";
export type {
  RegistryAddition,
  RegistryOption,
  RegistryServer,
  RegistryTrial,
} from "../serve/registry/administration.ts";
export type { RegistryDetails, RegistryResults, RegistrySearch, RemoteRegistries } from "../serve/registry/remote.ts";
export type {
  AuditPage,
  GatewayInfo,
  HistoryPage,
  PolicyQuestion,
  RemoteAuditQuery,
  RemoteRun,
  RemoteRunHead,
  RemoteRuns,
  RemoteHistoryQuery,
  RemoteOperations,
} from "./remote-operations.ts";
export type { SavedProgram, SaveProgram } from "../programs/saved/saved-program.ts";
export type { RemoteKeyRequest, RemoteTeams, RemoteUsageQuery } from "./remote-teams.ts";
export type { ApiKey, NewKey } from "../teams/keys.ts";
export type { QuotaStatus } from "../teams/team-administration.ts";
export type { Budget, Grant, Group, Member, Quota, Tenant, TenantSettings } from "../teams/tenant.ts";
export type { UsagePart, UsageRow } from "../teams/usage-csv.ts";

export { ArsenalError, isArsenalError, type ErrorDetails, type ErrorIssue } from "../errors/arsenal-error.ts";
export type { ErrorCode } from "../errors/codes.ts";
export type { ExportedTools } from "../facade/registrations.ts";
export type { BatchResult, ExecutionStatus, ResultError, ToolResult } from "../execute/result.ts";
export type {
  AnswerOptions,
  ApprovalPage,
  DecidedApproval,
  ListApprovalsOptions,
  PendingApproval,
} from "../guard/aegis.ts";
export type { ListPinsOptions, Pin, PinFinding } from "../guard/pins/pins.ts";
export type { MarkedTool, Refusal } from "../guard/policy.port.ts";
export type { ArsenalEvent, EventLevel, EventMap, EventName } from "../observe/events.ts";
export type { LogLine } from "../register/source.port.ts";
export type { RegisteredBatch } from "../register/register-batch.ts";
export type { FoundSkill, RetrievalResult, ScoredTool } from "../retrieve/result.ts";
export type { ToolDraft } from "../tool/draft.ts";
export type { Progress } from "../tool/handler.ts";
export type { Health, Tool } from "../tool/tool.ts";
export type { MarkedToolset, Toolset } from "../toolset/toolset.ts";
