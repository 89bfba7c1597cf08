import type { AuditHead } from "../guard/audit.port.ts";
import type { PolicyRequest } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { ToolSource } from "../tool/tool.ts";

/** What operators do besides using tools. Surfaces check the caller's role before they call any of it. */
export interface Administration {
  readonly ensembles: EnsembleAdministration;
  readonly policy: PolicyAdministration;
  /** Undefined if calls are not audited, or the log cannot be read back. */
  readonly audit: AuditAdministration | undefined;
}

/** How one ensemble fares. */
export interface EnsembleStatus {
  readonly name: string;
  readonly source: ToolSource;
  readonly state: "connecting" | "connected" | "failed" | "disconnected";
  /** Why it is not connected. */
  readonly problem?: string;
  /** How many tools it has registered. */
  readonly tools: number;
}

export interface EnsembleAdministration {
  /** In the order they were added. */
  list(): readonly EnsembleStatus[];
  /** Connects a disconnected or failed ensemble. These three resolve with what became of it, or reject with ENSEMBLE_NOT_FOUND. */
  connect(name: string, options: { readonly signal: AbortSignal }): Promise<EnsembleStatus>;
  /** Closes its connection and takes its tools away; it can be connected again. */
  disconnect(name: string): Promise<EnsembleStatus>;
  /** Lists its tools again, from files or the server. */
  reload(name: string, options: { readonly signal: AbortSignal }): Promise<EnsembleStatus>;
}

/** What policy says of one call that is not made. */
export interface PolicyAnswer {
  readonly visible: boolean;
  readonly effect: "allow" | "deny" | "confirm";
  readonly rule?: string;
  readonly reason?: string;
  /** Every rule that was looked at, in order, and whether it matched, if the policy can tell. */
  readonly steps?: readonly { readonly rule: string; readonly matched: boolean; readonly why?: string }[];
  /** Whether this policy can explain how it decides. */
  readonly explains: boolean;
}

export interface PolicyAdministration {
  /** Asks the policy in force, the guard's own checks included, and runs nothing. */
  explain(
    request: Pick<PolicyRequest, "arguments" | "principal" | "toolset"> & { readonly toolName: string },
  ): Promise<PolicyAnswer>;
  /** Reads the policy file again. */
  reload(): void;
}

/** A record as the log keeps it. */
export type StoredAuditRecord = Readonly<Record<string, unknown>> & {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
};

/** Which records are meant; all conditions hold. */
export interface AuditQuery {
  readonly kind?: string;
  readonly toolId?: string;
  readonly principal?: string;
  readonly traceId?: string;
  readonly status?: string;
  readonly from?: number;
  readonly to?: number;
  /** Only the records of this tenant. */
  readonly tenant?: string;
}

export interface AuditAdministration {
  /** Newest first. `before` is the sequence number at which the page before ended. */
  query(
    query: AuditQuery,
    page: { readonly limit: number; readonly before?: number; readonly signal: AbortSignal },
  ): Promise<{ readonly records: readonly StoredAuditRecord[]; readonly next?: number }>;
  /** Checks the chain of the whole log. */
  verify(options: {
    readonly signal: AbortSignal;
  }): Promise<{ readonly intact: boolean; readonly head: AuditHead; readonly problem?: string }>;
}

/** Who may do something that changes the gateway. */
export function hasRole(principal: Principal, role: string): boolean {
  return principal.roles.includes(role);
}
