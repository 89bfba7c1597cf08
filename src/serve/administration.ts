import type { WorkflowView, WorkflowViews } from "../adapters/sources/workflows/view.ts";
import type { NamedSource } from "../adapters/sources/named-source.ts";
import type { ExecutionStatus } from "../execute/result.ts";
import type { KeptRecord, Verification, VerifyAuditOptions } from "../guard/audit.port.ts";
import type { CallAudit } from "../guard/audit/call-audit.ts";
import type { AegisPreview } from "../guard/aegis.ts";
import type { PolicyRequest, PolicyRule } from "../guard/policy.port.ts";
import type { CallRecord, RetrievalRecord } from "../observe/history/record.ts";
import type { Statistics } from "../observe/metrics/statistics.ts";
import type { Principal } from "../guard/principal.ts";
import type { EventFeed } from "./events/event-feed.ts";
import type { RunCall, RunHead } from "../runs/run.ts";
import type { RegistryAdministration } from "./registry/administration.ts";
import type { LogLine } from "../register/source.port.ts";
import type { TeamAdministration } from "../teams/team-administration.ts";
import type { ToolSource } from "../tool/tool.ts";

/** The actions of operators, except using tools. Surfaces check the caller's role before they call one of them. */
export interface Administration {
  /** The role that makes a caller an operator. */
  readonly operatorRole: string;
  readonly ensembles: EnsembleAdministration;
  /** Returns a check for the ensembles that an operator may see: all, or those with tools of the toolsets that the operator's tenant may use. */
  seenEnsembles(principal: Principal): Promise<(name: string) => boolean>;
  readonly policy: PolicyAdministration;
  readonly workflows: WorkflowAdministration;
  readonly registries: RegistryAdministration;
  /** The events of every process on the same state. */
  readonly events: Pick<EventFeed, "follow">;
  /** Undefined if calls are not audited, or the log cannot be read back. */
  readonly audit: AuditAdministration | undefined;
  /** Returns the recorder of operators' actions. Undefined if calls are not audited. */
  recorder(): Promise<CallAudit | undefined>;
  /** Undefined if no history is kept. */
  readonly history: HistoryAdministration | undefined;
  /** Undefined if teams are off. */
  readonly teams: TeamAdministration | undefined;
  /** Returns the state of this process, as far as the caller may see it. An operator of a tenant gets the figures of that tenant. */
  overview(principal: Principal): Promise<GatewayOverview>;
}

/** The statistics of one process of the gateway since it started, and its current problems. */
export interface GatewayOverview extends Statistics {
  /** Ids of the tools that the caller may see and whose circuit breaker is open. */
  readonly openBreakers: readonly string[];
  /** Ids of the caller's visible tools that have another definition in the shared catalog than in this process. */
  readonly conflicts: readonly string[];
  readonly ensembles: readonly EnsembleStatus[];
  /** Whether the audit log and the history exist and can be read, and whether the audit log contains arguments. */
  readonly keeps: { readonly audit: boolean; readonly history: boolean; readonly arguments?: boolean };
}

/** A past search without its ranking, or a past call. */
export type HistoryEntry =
  | (Omit<RetrievalRecord, "explanation"> & { readonly toolIds: readonly string[] })
  | CallRecord;

/** The conditions on records. All of them must hold. `tool`, `status` and `ensemble` exclude searches. */
export interface HistoryFilter {
  readonly kind?: HistoryEntry["kind"] | undefined;
  /** A tool's id, or a pattern such as `shop.*`. */
  readonly tool?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly ensemble?: string | undefined;
  /** Milliseconds since the epoch. Only records that ended at or after `from` and before `to`. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly tenant?: string | undefined;
}

/** All stored records of one trace, oldest first. */
export interface TraceHistory {
  readonly traceId: string;
  readonly retrievals: readonly RetrievalRecord[];
  readonly calls: readonly CallRecord[];
}

/** A sum of the costs of calls. */
export interface CostSum {
  readonly name: string;
  readonly calls: number;
  readonly cost: number;
}

/** The stored history of searches and calls. `tenant` restricts it to one tenant. */
export interface HistoryAdministration {
  /** The currency of costs as an ISO 4217 code. Undefined if it is not configured. */
  readonly currency: string | undefined;
  /** Newest first. `next` is the cursor of the next page, with older records. */
  list(
    filter: HistoryFilter,
    page: { readonly limit: number; readonly before?: HistoryPlace | undefined; readonly signal: AbortSignal },
  ): Promise<{ readonly records: readonly HistoryEntry[]; readonly next?: HistoryPlace }>;
  /** Returns empty lists if no record of the trace is stored. */
  trace(
    traceId: string,
    options: { readonly tenant?: string | undefined; readonly signal: AbortSignal },
  ): Promise<TraceHistory>;
  costs(asked: {
    readonly by: "tool" | "tenant" | "day";
    readonly days: number;
    readonly tenant?: string | undefined;
    readonly signal: AbortSignal;
  }): Promise<readonly CostSum[]>;
}

/** The end of a page of the history: a time, and the number of shown records with that time. */
export interface HistoryPlace {
  readonly at: number;
  readonly shown: number;
}

/** The state of an ensemble. */
export interface EnsembleStatus {
  readonly name: string;
  readonly source: ToolSource;
  readonly state: "connecting" | "connected" | "failed" | "disconnected";
  /** The reason why the ensemble is not connected, or why its tools could not be listed. */
  readonly problem?: string;
  /** The number of registered tools. */
  readonly tools: number;
  /** False if the ensemble was added at runtime and will be gone after a restart. */
  readonly persisted: boolean;
}

/** Hides the reason of a failure from operators of a tenant, because it may quote a server's log about other tenants' calls. */
export function statusFor({ tenant }: Principal, status: EnsembleStatus): EnsembleStatus {
  if (tenant === undefined || status.problem === undefined) return status;
  return { ...status, problem: "It failed. An operator of the whole gateway can see why." };
}

export interface EnsembleAdministration {
  /** Returns connected and connecting ensembles in the order in which they were added, then the others. */
  list(): readonly EnsembleStatus[];
  /** Throws ENSEMBLE_NOT_FOUND, also for an ensemble that the operator may not see. */
  get(name: string, isSeen?: (name: string) => boolean): EnsembleStatus;
  /**
   * Returns the latest log lines with an id above `after`, newest last. Also works for a server that could not be added. Throws ENSEMBLE_NOT_FOUND.
   */
  log(name: string, options: { readonly after?: number | undefined }): readonly LogLine[];
  /** Connects a disconnected or failed ensemble. Like the next three methods, resolves with the new state, or rejects with ENSEMBLE_NOT_FOUND. */
  connect(name: string, options: { readonly signal: AbortSignal }): Promise<EnsembleStatus>;
  /** Closes the connection and removes the tools. The ensemble can be connected again. */
  disconnect(name: string): Promise<EnsembleStatus>;
  /** Lists the tools again, from files or the server. */
  reload(name: string, options: { readonly signal: AbortSignal }): Promise<EnsembleStatus>;
  /** Disconnects and reconnects. Running calls fail. The tools return with the same ids. */
  restart(name: string, options: { readonly signal: AbortSignal }): Promise<EnsembleStatus>;
  /** Disconnects the ensemble and removes it. */
  remove(name: string): Promise<void>;
  /**
   * Connects a source and adds its tools until the process ends. Rejects with INPUT_INVALID if the settings are invalid or the name is taken, and
   * with SOURCE_UNAVAILABLE if the source cannot be reached. Rejects with PERMISSION_DENIED if the caller may not use settings that run a command of
   * this machine, read its files or secrets, or lead to this machine or a private network.
   */
  add(
    source: NamedSource,
    by: Principal,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly name: string; readonly tools: number }>;
}

/** A workflow with its latest runs. */
export interface WorkflowWithRuns extends WorkflowView {
  /** Newest first. */
  readonly runs: readonly WorkflowRunView[];
}

/** A run of a workflow, with its finished calls. */
export interface WorkflowRunView extends Pick<RunHead, "id" | "status" | "startedAt" | "endedAt" | "traceId"> {
  readonly owner: string;
  readonly message?: string;
  readonly calls: readonly (Pick<RunCall, "status" | "durationMs"> & {
    readonly step: string;
    readonly undo: boolean;
  })[];
  readonly waits: readonly { readonly step: string; readonly confirmationId: string }[];
}

export interface WorkflowAdministration {
  list(): WorkflowViews;
  /** Returns undefined if the workflow does not exist. */
  get(id: string): Promise<WorkflowWithRuns | undefined>;
}

/** The guard's decision on one hypothetical call. */
export interface PolicyAnswer extends AegisPreview {
  readonly toolId: string;
  /** True if the policy can explain how each of its rules applies to the call. */
  readonly explains: boolean;
}

export interface PolicyTest {
  readonly failed: number;
  readonly cases: readonly {
    readonly ok: boolean;
    readonly name: string;
    readonly expected: string;
    readonly actual: string;
    readonly rule?: string | undefined;
    readonly reason: string;
  }[];
}

/**
 * Explains, tests and reloads the policy. An operator who belongs to a tenant (`by`) sees only that tenant's callers, the tools that the operator may
 * see, and rules that are not about other tenants. A caller without a tenant counts as one of the operator's tenant. Another tenant's caller is
 * PERMISSION_DENIED. A tool that the operator may not see is TOOL_NOT_FOUND, whether or not it exists.
 */
export interface PolicyAdministration {
  /** Returns the current rules in the order of evaluation. Undefined if the policy cannot list its rules. */
  rules(by: Principal): Promise<readonly PolicyRule[] | undefined>;
  /** Evaluates the current policy and the guard's own checks for a call, without running it. Rejects with TOOL_NOT_FOUND. */
  explain(
    request: Pick<PolicyRequest, "arguments" | "principal" | "toolset"> & { readonly toolName: string },
    by: Principal,
  ): Promise<PolicyAnswer>;
  /** Checks the current policy, or a policy document, against cases. Rejects with INPUT_INVALID if a case or the document is invalid. */
  test(
    cases: readonly unknown[],
    by: Principal,
    options: { readonly policy?: string | undefined },
  ): Promise<PolicyTest>;
  /** Reads the policy file again, in every process on the same state. If the file is invalid, throws CONFIG_INVALID and keeps the old policy. */
  reload(): void;
}

/** The conditions on records. All of them must hold. */
export interface AuditQuery {
  readonly kind?: string | undefined;
  /** The id of a tool, or of another object that an operator changed. */
  readonly toolId?: string | undefined;
  /** The principal that called, requested, answered, accepted or changed something. */
  readonly principal?: string | undefined;
  /** The action of an operator: `addEnsemble`. */
  readonly action?: string | undefined;
  readonly traceId?: string | undefined;
  /** The status of a call, of an operator's action, or of an approval. */
  readonly status?: string | undefined;
  /** Milliseconds since the epoch. Only records at or after `from` and before `to`. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly tenant?: string | undefined;
}

export interface AuditAdministration {
  /** Newest first. `before` is the end of the previous page. A page may be short or empty and still have a next one. */
  query(
    query: AuditQuery,
    page: { readonly limit: number; readonly before?: number | undefined; readonly signal: AbortSignal },
  ): Promise<{ readonly records: readonly KeptRecord[]; readonly next?: number }>;
  /** Checks the hash chain of the whole log. */
  verify(options: VerifyAuditOptions): Promise<Verification>;
}

/** Returns true if a caller has a role. The operator's role can be configured; the local operator always has it. */
export function hasRole(
  { roles, local }: Principal,
  role: "operator" | "approver",
  administration?: Pick<Administration, "operatorRole">,
): boolean {
  const { operatorRole = "operator" } = administration ?? {};
  return roles.includes(role === "operator" ? operatorRole : role) || (local && roles.includes(role));
}
