import type { ErrorCode } from "../errors/codes.ts";
import type { ExecutionStatus } from "../execute/result.ts";
import type { TextPlace } from "./scan/finding.ts";

/** A tamper-evident record of actions. Records are only appended, and each one contains the hash of the previous one. */
export interface AuditLog {
  readonly name: string;
  /** Appends a record. Resolves once it is stored as durably as requested; rejects if it is not stored. */
  append(record: AuditRecord, options?: AppendOptions): Promise<void>;
  /** Returns the current end of the log. If you store it elsewhere, it later proves that no record up to here was removed. */
  head(): Promise<AuditHead>;
  /** Reads the records before `before`, newest first. Keeps one page in memory and skips invalid lines. Omitted if the log cannot be read. */
  read?(options?: ReadAuditOptions): Promise<AsyncIterable<KeptRecord>>;
  /** Verifies every record from the first to the last, and the signatures if this log signs. Omitted if the log cannot be read. */
  verify?(options?: VerifyAuditOptions): Promise<Verification>;
  /**
   * Removes the records older than `before`, up to the first newer record. A signed record of kind `pruned` names the removed ones, so the rest can
   * still be verified. Rejects, and removes nothing, if the log was changed. Omitted if this log keeps everything.
   */
  prune?(options: PruneAuditOptions): Promise<PrunedAudit>;
  /** Stores pending records, signs the end and releases resources. Safe to call twice; nothing can be appended afterwards. */
  close(): Promise<void>;
}

export interface AppendOptions {
  /** The failure that a stored record must survive: a `crash` of this process, or `everything` that this log protects from (the default). */
  readonly survives?: "crash" | "everything";
}

export interface ReadAuditOptions {
  /** Only records with a lower sequence number. */
  readonly before?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface VerifyAuditOptions {
  /** An end of the log that was stored elsewhere. Verification fails if the log does not contain it unchanged. */
  readonly head?: AuditHead | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PruneAuditOptions {
  /** Milliseconds since the epoch. */
  readonly before: number;
  /** The person who requests the removal. */
  readonly by: string;
  /** True only counts the records. Defaults to false. */
  readonly dryRun?: boolean;
}

/** The removed records: their number, and the last of them. */
export interface PrunedAudit {
  readonly records: number;
  readonly through: AuditHead;
}

export interface KeptRecord {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The result of verifying a log: it is intact, or the first damaged record. */
export type Verification =
  | {
      readonly ok: true;
      readonly records: number;
      readonly head: AuditHead;
      /** The last record covered by a verified signature; anyone who can write the log can forge later records. 0 if there is none. */
      readonly signedUpTo: number;
      /** The last record that was pruned. Omitted if the log begins with its first record. */
      readonly prunedThrough?: number;
      /** The number of missing records, as reported by its `gap` records. Omitted if there are none. */
      readonly missing?: number;
    }
  | {
      readonly ok: false;
      /** The first sequence number that was altered. */
      readonly seq: number;
      readonly reason: string;
    };

/** The end of a log. */
export interface AuditHead {
  /** 0 if the log is empty; the first record has 1. */
  readonly seq: number;
  /** SHA-256 in 64 hexadecimal digits, of everything up to here. */
  readonly hash: string;
}

/** The kinds of records. The log adds `seq`, `at`, `prev` and `hash`. */
export type AuditRecord =
  | CallRecord
  | ApprovalRecord
  | PinAcceptedRecord
  | PinRefusedRecord
  | ScanFailedRecord
  | OperatorActionRecord
  | ConnectionRecord
  /** The number of records lost while the log failed. */
  | { readonly kind: "gap"; readonly records: number };

/** The record of every call, whatever its outcome. */
export interface CallRecord {
  readonly kind: "call";
  /** The requested tool, even if the caller may not see it; `(unknown)` if the tool does not exist. */
  readonly toolId: string;
  /** The requested name, shortened. Present only if the tool does not exist. */
  readonly asked?: string;
  readonly version?: string;
  readonly contentHash?: string;
  readonly principal: string;
  readonly tenant?: string;
  readonly toolset?: string;
  readonly decision: AuditedDecision;
  readonly status: ExecutionStatus;
  readonly code?: ErrorCode;
  readonly confirmationId?: string;
  readonly idempotencyKey?: string;
  /** True if the call repeated an idempotency key and got the first call's result. */
  readonly replayed?: true;
  /** True if the result came from the result cache. */
  readonly cached?: true;
  /** Omitted if the call could not be parsed. */
  readonly arguments?: AuditedArguments;
  readonly attempts: number;
  readonly queuedMs: number;
  readonly latencyMs: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** The guard's decision: `none` if a call ended before it. */
export interface AuditedDecision {
  readonly effect: "allowed" | "denied" | "pending" | "none";
  readonly rule?: string;
}

/** A call's arguments: their hash, and either their types or, if configured, the arguments. */
export type AuditedArguments =
  | { readonly sha256: string; readonly shape: unknown }
  | { readonly sha256: string; readonly value: unknown };

/** A change of an approval. */
export interface ApprovalRecord {
  readonly kind: "approval";
  readonly id: string;
  /** `(unknown)` if an answer was refused because no such approval is pending. */
  readonly toolId: string;
  readonly outcome: "requested" | "approved" | "denied" | "expired" | "used" | "returned" | "refused";
  /** The person who requested, answered, tried to answer or used the approval. Omitted if it expired. */
  readonly by?: string;
  /** The tenant of a person whose answer was refused. */
  readonly tenant?: string;
  readonly because?: "lacks-role" | "own-call" | "unknown" | "settled";
  readonly note?: string;
}

/** A failed attempt to accept a tool or the instructions of a server. */
export interface PinRefusedRecord {
  readonly kind: "pin-refused";
  /** The given id, shortened. */
  readonly toolId: string;
  readonly because: "lacks-role" | "nothing-waits" | "changed";
  readonly by: string;
  readonly tenant?: string;
}

/** A tool, or the instructions of a server, was accepted. */
export interface PinAcceptedRecord {
  readonly kind: "pin-accepted";
  /** `NAME#instructions` for the instructions of a server. */
  readonly toolId: string;
  /** SHA-256 of the accepted content, in hexadecimal digits. */
  readonly contentHash: string;
  readonly previousContentHash?: string;
  readonly by: string;
}

/**
 * An operator changed the gateway, or tried to. An action leaves two records, `started` before it runs and its outcome afterwards, or one if it was
 * denied before it ran. An action without an outcome hung, or ended the process.
 */
export interface OperatorActionRecord {
  readonly kind: "operator-action";
  /** The same in both records of an action. */
  readonly id: string;
  /** The operation of the REST API: `addEnsemble`, `deleteTool`, … */
  readonly action: string;
  /** The changed objects: ids of tools, or the name of an ensemble. Empty for the gateway itself. At most 100. */
  readonly targets: readonly string[];
  /** The number of targets left out. */
  readonly more?: number;
  readonly by: string;
  readonly tenant?: string;
  readonly outcome: "started" | "done" | "denied" | "failed";
  readonly code?: ErrorCode;
  /** The request's arguments, without values. Omitted if there were none, or the caller lacks the role. */
  readonly arguments?: AuditedArguments;
  readonly traceId?: string;
}

/** A person signed in to a server behind the gateway, or out of it. */
export interface ConnectionRecord {
  readonly kind: "connection";
  readonly outcome: "signed-in" | "signed-out";
  readonly targets: readonly [server: string];
  /** The person whose calls carry the tokens. */
  readonly principal: string;
  readonly tenant?: string;
  /** The operator who did it for this person. Omitted if the person did it. */
  readonly by?: string;
}

export interface ScanFailedRecord {
  readonly kind: "scan-failed";
  readonly toolId: string;
  readonly where: TextPlace;
  readonly outcome: "allowed" | "refused";
}
