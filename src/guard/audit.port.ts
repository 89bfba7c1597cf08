import type { ErrorCode } from "../errors/codes.ts";
import type { ExecutionStatus } from "../execute/result.ts";
import type { Place } from "./scan/finding.ts";

/** Keeps what was done, so that nobody can change it later unnoticed. Records are only ever added, each one bound to the one before. */
export interface AuditLog {
  readonly name: string;
  /** Adds a record after all those given before it. Resolves once it is kept as safely as asked; rejects if it is not kept. */
  append(record: AuditRecord, options?: AppendOptions): Promise<void>;
  /** Where the log ends now. Kept elsewhere, it proves later that nothing up to here was cut off. */
  head(): Promise<AuditHead>;
  /** Reads records back, newest first, before `before`. Keeps one page in memory; skips lines that are not records. Omitted if the log cannot be read back. */
  read?(options?: ReadAuditOptions): Promise<AsyncIterable<KeptRecord>>;
  /** Checks every record from the first to the last one kept now, and the signatures if this log signs. Omitted if it cannot be read back. */
  verify?(options?: VerifyAuditOptions): Promise<Verification>;
  /** Keeps what was given, signs the end and releases what is held. Safe to call twice; nothing can be added afterwards. */
  close(): Promise<void>;
}

export interface AppendOptions {
  /** What the record must survive: a `crash` of this process, or everything that this log protects from. Defaults to `everything`. */
  readonly survives?: "crash" | "everything";
}

export interface ReadAuditOptions {
  /** Only records with a lower sequence number. */
  readonly before?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface VerifyAuditOptions {
  /** An end of the log that was kept elsewhere: the log must reach it, unchanged. */
  readonly head?: AuditHead | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A record as it stands in a log. */
export interface KeptRecord {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The result of checking a log: it is whole, or the first place where it is not. */
export type Verification =
  | {
      readonly ok: true;
      readonly records: number;
      readonly head: AuditHead;
      /** The last record that a checked signature covers; what follows can be forged by anybody who can write the log. 0 if there is none. */
      readonly signedUpTo: number;
      /** How many records its `gap` records report as missing. Omitted if there are none. */
      readonly missing?: number;
    }
  | {
      readonly ok: false;
      /** The first sequence number that is not as it was written. */
      readonly seq: number;
      readonly reason: string;
    };

/** The end of a log. */
export interface AuditHead {
  /** 0 where the log is empty; the first record has 1. */
  readonly seq: number;
  /** SHA-256 in 64 hexadecimal digits, of everything up to here. */
  readonly hash: string;
}

/** What can be recorded. The log adds `seq`, `at`, `prev` and `hash`. */
export type AuditRecord =
  | CallRecord
  | ApprovalRecord
  | PinAcceptedRecord
  | PinRefusedRecord
  | ScanFailedRecord
  | OperatorActionRecord
  /** Records that could not be kept while the log failed. */
  | { readonly kind: "gap"; readonly records: number };

/** The one record that every call leaves, whatever became of it. */
export interface CallRecord {
  readonly kind: "call";
  /** The tool that was meant, also if the caller may not know of it; `(unknown)` if there is none. */
  readonly toolId: string;
  /** The requested name, shortened, if the tool does not exist. */
  readonly asked?: string;
  readonly version?: string;
  readonly contentHash?: string;
  readonly principal: string;
  readonly tenant?: string;
  /** The toolset that the caller looked through. */
  readonly toolset?: string;
  readonly decision: AuditedDecision;
  readonly status: ExecutionStatus;
  readonly code?: ErrorCode;
  readonly confirmationId?: string;
  readonly idempotencyKey?: string;
  /** True if an earlier call with the same idempotency key had run, and its result was given again. */
  readonly replayed?: true;
  /** True if the result came from the result cache. */
  readonly cached?: true;
  /** Absent if the call could not be read. */
  readonly arguments?: AuditedArguments;
  readonly attempts: number;
  readonly queuedMs: number;
  readonly latencyMs: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** What the guard said: `none` where a call ended before it was asked. */
export interface AuditedDecision {
  readonly effect: "allowed" | "denied" | "pending" | "none";
  readonly rule?: string;
}

/** A call's arguments: their hash, and either the types they are made of or, where so configured, the arguments. */
export type AuditedArguments =
  | { readonly sha256: string; readonly shape: unknown }
  | { readonly sha256: string; readonly value: unknown };

/** Something happened to an approval. */
export interface ApprovalRecord {
  readonly kind: "approval";
  readonly id: string;
  /** `(unknown)` if an answer was refused because no such approval waits. */
  readonly toolId: string;
  readonly outcome: "requested" | "approved" | "denied" | "expired" | "used" | "returned" | "refused";
  /** Who asked, answered or used it, or tried to answer; absent if it expired. */
  readonly by?: string;
  /** The tenant of somebody whose answer was refused. */
  readonly tenant?: string;
  /** Why an answer was refused. */
  readonly because?: "lacks-role" | "own-call" | "unknown" | "settled";
}

/** Somebody tried to accept a tool, or the instructions of a server, and could not. */
export interface PinRefusedRecord {
  readonly kind: "pin-refused";
  /** The id that was given, shortened. */
  readonly toolId: string;
  readonly because: "lacks-role" | "nothing-waits" | "changed";
  readonly by: string;
  readonly tenant?: string;
}

/** A tool, or the instructions of a server, was accepted as it is. */
export interface PinAcceptedRecord {
  readonly kind: "pin-accepted";
  /** `NAME#instructions` for the instructions of a server. */
  readonly toolId: string;
  /** SHA-256 of what was accepted, in hexadecimal digits. */
  readonly contentHash: string;
  readonly previousContentHash?: string;
  readonly by: string;
}

/**
 * An operator changed the gateway, or tried to. An action leaves two records, `started` before it runs and its outcome afterwards, or one if it was
 * denied before it ran. One that only started hung, or ended the process.
 */
export interface OperatorActionRecord {
  readonly kind: "operator-action";
  /** The same in both records of an action. */
  readonly id: string;
  /** The operation of the REST API: `addEnsemble`, `deleteTool`, … */
  readonly action: string;
  /** What it changed: ids of tools, or the name of an ensemble. Empty for the gateway itself. At most 100. */
  readonly targets: readonly string[];
  /** How many targets are left out. */
  readonly more?: number;
  readonly by: string;
  readonly tenant?: string;
  readonly outcome: "started" | "done" | "denied" | "failed";
  readonly code?: ErrorCode;
  /** What was sent with it, without values. Omitted if there was nothing, or the caller lacks the role. */
  readonly arguments?: AuditedArguments;
  readonly traceId?: string;
}

/** Something could not be scanned, or not to its end. */
export interface ScanFailedRecord {
  readonly kind: "scan-failed";
  readonly toolId: string;
  readonly where: Place;
  readonly outcome: "allowed" | "refused";
}
