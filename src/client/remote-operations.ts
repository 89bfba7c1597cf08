import type { KeptRecord, Verification } from "../guard/audit.port.ts";
import type { PolicyRule } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import type {
  CostSum,
  EnsembleStatus,
  GatewayOverview,
  HistoryEntry,
  HistoryFilter,
  PolicyAnswer,
  TraceHistory,
  WorkflowWithRuns,
} from "../serve/administration.ts";
import type { WorkflowViews } from "../adapters/sources/workflows/view.ts";
import type { Run, RunHead } from "../runs/run.ts";
import type { SavedProgram, SaveProgram } from "../programs/saved/saved-program.ts";
import type { RemoteRegistries } from "../serve/registry/remote.ts";
import type { LogLine } from "../register/source.port.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { RemoteTeams } from "./remote-teams.ts";

/** The gateway's version and features, and the caller's identity. */
export interface GatewayInfo {
  readonly version: string;
  /** The formats that tools can be exported in. */
  readonly dialects: readonly string[];
  readonly caller: Pick<Principal, "id" | "roles" | "tenant"> & {
    /** The ids in `/openapi.json` of the operations that the caller may use. */
    readonly operations: readonly string[];
  };
}

/**
 * Operator methods over REST. Each method except `info` needs the role `operator`. Changes to state that tenants share need an operator without a
 * tenant.
 */
export interface RemoteOperations extends RemoteTeams {
  /** Returns the gateway's version and the caller's identity. */
  info(): Promise<GatewayInfo>;
  readonly ensembles: {
    /** Returns ensembles in the order in which they were added. */
    list(): Promise<readonly EnsembleStatus[]>;
    get(name: string): Promise<EnsembleStatus>;
    /** Returns the latest lines that a server logged, newest last. With `after`, only lines with a greater id. */
    log(
      name: string,
      options?: { readonly after?: number; readonly signal?: AbortSignal },
    ): Promise<readonly LogLine[]>;
    connect(name: string): Promise<EnsembleStatus>;
    disconnect(name: string): Promise<EnsembleStatus>;
    /** Lists the ensemble's tools again. */
    reload(name: string): Promise<EnsembleStatus>;
    /** Disconnects and reconnects the ensemble. Calls in progress fail. The tools return with the same ids. */
    restart(name: string): Promise<EnsembleStatus>;
    /** Returns the types of sources that can be added, each with the JSON Schema of its settings. */
    types(): Promise<Readonly<Record<string, JsonSchema>>>;
  };
  readonly registries: RemoteRegistries;
  readonly policy: {
    /** Returns the current rules in the order of evaluation. Undefined if the policy cannot list its rules. */
    rules(): Promise<readonly PolicyRule[] | undefined>;
    /** Explains the policy's decision on a hypothetical call. */
    explain(asked: PolicyQuestion): Promise<PolicyAnswer>;
    reload(): Promise<void>;
  };
  readonly workflows: {
    /** Returns the workflows, and the workflow files that are not tools. */
    list(): Promise<WorkflowViews>;
    /** Returns a workflow with its steps and its latest runs. Rejects with TOOL_NOT_FOUND. */
    get(id: string): Promise<WorkflowWithRuns>;
  };
  readonly audit: {
    /** Newest first. To get the next page, pass `next` as `cursor`. */
    query(query?: RemoteAuditQuery): Promise<AuditPage>;
    /** Checks that no record was changed or removed. */
    verify(): Promise<Verification>;
  };
  /**
   * Programs that worked, and that a person accepted as tools. An operator sees the programs of its tenant. Other callers save, see and withdraw
   * their own.
   */
  readonly programs: {
    /** An operator's program becomes a tool immediately; another caller's program waits for an operator. */
    save(program: SaveProgram): Promise<SavedProgram>;
    /** With `digest`, only if the program is still the one that you reviewed. */
    accept(name: string, options?: { readonly digest?: string }): Promise<SavedProgram>;
    list(): Promise<{ readonly programs: readonly SavedProgram[] }>;
    /** Rejects with TOOL_NOT_FOUND if the program does not exist. */
    get(name: string): Promise<SavedProgram>;
    remove(name: string): Promise<void>;
  };
  /** Runs of programs and workflows, kept for a day. A caller sees its own runs, an operator the runs of its tenant. */
  readonly runs: {
    /** Newest first. To get the next page, pass `next` as `cursor`. */
    list(page?: { readonly limit?: number; readonly cursor?: string }): Promise<RemoteRuns>;
    get(id: string): Promise<RemoteRun>;
    /** Ends a run and its calls. Returns false if it had already ended. */
    cancel(id: string): Promise<boolean>;
  };
  /** Returns the current state of the responding process, and its statistics since it started. */
  stats(): Promise<GatewayOverview>;
  readonly history: {
    /** Returns past searches and calls, newest first. To get the next page, pass `next` as `cursor`. */
    list(asked?: RemoteHistoryQuery): Promise<HistoryPage>;
    /**
     * Returns the records of one trace: searches with every signal, calls with every step. Rejects with INPUT_INVALID if the trace has no records.
     */
    trace(traceId: string): Promise<TraceHistory>;
    /** Returns the costs of calls, by default by tool for the last 30 days. */
    costs(asked?: { readonly by?: "tool" | "tenant" | "day"; readonly days?: number }): Promise<readonly CostSum[]>;
  };
}

/** A run without its calls. */
export interface RemoteRunHead extends Omit<RunHead, "owner" | "spanId" | "parentSpanId" | "waits"> {
  /** The id of the caller that started the run. */
  readonly owner: string;
  readonly tenant?: string;
  readonly waits: readonly Omit<RunHead["waits"][number], "key">[];
}

/** A run with its calls. */
export interface RemoteRun extends RemoteRunHead, Pick<Run, "work" | "calls" | "result"> {}

/** A page of runs. It may be short or empty and still have a `next`. */
export interface RemoteRuns {
  readonly runs: readonly RemoteRunHead[];
  readonly next?: string;
}

/** A hypothetical call: its caller, tool and arguments. */
export interface PolicyQuestion {
  readonly toolName: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Roles, scopes and capabilities default to none. */
  readonly principal: Pick<Principal, "id"> & Partial<Omit<Principal, "local">>;
  readonly toolset?: string;
}

/** The conditions on records. All of them must hold. */
export interface RemoteAuditQuery {
  readonly kind?: string;
  /** The id of a tool, or of another object that an operator changed. */
  readonly tool?: string;
  /** The operator's action: `addMcpServer`. */
  readonly action?: string;
  readonly principal?: string;
  readonly trace?: string;
  readonly status?: string;
  /** Only records from this time on: `2026-05-04T12:00:00Z`. */
  readonly from?: string;
  /** Only records before this time. */
  readonly to?: string;
  /** Records per page. Defaults to 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of audit records. It may be short or empty and still have a `next`. */
export interface AuditPage {
  readonly records: readonly KeptRecord[];
  readonly next?: string;
}

/** The conditions on past searches and calls. All of them must hold. */
export interface RemoteHistoryQuery extends Omit<HistoryFilter, "tenant" | "from" | "to"> {
  /** Only records from this time on: `2026-05-04T12:00:00Z`. */
  readonly from?: string | undefined;
  /** Only records before this time. */
  readonly to?: string | undefined;
  /** Records per page. Defaults to 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of past searches and calls. */
export interface HistoryPage {
  readonly records: readonly HistoryEntry[];
  readonly next?: string;
}
