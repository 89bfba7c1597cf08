import type { ErrorCode } from "../errors/codes.ts";
import type { ExecutionStatus } from "../execute/result.ts";
import type { TextPlace, ScanAction, Severity } from "../guard/scan/finding.ts";
import type { EndedRequest, Progress } from "../tool/handler.ts";
import type { Health, ToolSource } from "../tool/tool.ts";

interface OfCall {
  readonly toolId: string;
  readonly traceId: string;
  readonly spanId: string;
}

/** Work with a start and an end, and its position in a trace. Sinks convert it to spans. */
interface OfSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** False if the caller does not record this trace. */
  readonly sampled?: false;
  /** The header `tracestate` of the trace. */
  readonly tracestate?: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** The duration of each step of a retrieval, in milliseconds, in order. */
export interface RetrievalSteps {
  /** Parsing the request and its conversation, and embedding it. */
  readonly understandMs: number;
  /** Searching the catalog. Some engines also report the durations of its parts. */
  readonly searchMs: number;
  readonly filterMs?: number;
  readonly lexicalMs?: number;
  readonly denseMs?: number;
  /** Fusing the evidence and scoring the candidates. */
  readonly fuseMs: number;
  readonly rerankMs?: number;
  /** Deciding whether any tool fits, and cutting the list. */
  readonly fitMs: number;
}

/** When each step of a call started and ended, in milliseconds since the epoch, with fractions. */
export interface CallSteps {
  readonly policy?: StepTime;
  /** Reserving rate limits, slots and the breaker, and waiting in the queue. */
  readonly queue?: StepTime;
  readonly attempts?: readonly AttemptTime[];
}

export interface StepTime {
  readonly startedAt: number;
  readonly durationMs: number;
}

export interface AttemptTime extends StepTime {
  /** The parent span of the attempt's own requests. */
  readonly spanId: string;
  /** The error code. Omitted if the attempt succeeded. */
  readonly code?: ErrorCode;
}

/** Every event by name. Names are noun-verb. Payloads are plain data without arguments or results. */
export interface EventMap {
  "tool-registered": { readonly toolId: string; readonly version: string; readonly source: ToolSource };
  "tool-replaced": { readonly toolId: string; readonly version: string; readonly previousVersion: string };
  "tool-rejected": { readonly name: string; readonly code: ErrorCode; readonly message: string };
  "tool-deleted": { readonly toolId: string };
  /** The shared catalog has another definition of a tool that runs here. This process ignores it. `contentHash` is the hash of that entry. */
  "tool-conflicted": {
    readonly toolId: string;
    readonly ensemble?: string;
    readonly contentHash: string;
    readonly fields: string;
  };
  /** A tool, or a server's instructions or command, differs from the accepted version. `fields` names the changed fields, not their values. */
  "tool-changed": { readonly id: string; readonly ensemble: string; readonly fields: string };
  "pin-accepted": {
    readonly id: string;
    readonly hash: string;
    readonly previousHash?: string;
    readonly by: string;
  };
  /** An attempt to accept a tool, or a server's instructions, failed. */
  "pin-refused": {
    /** The given id, shortened. */
    readonly id: string;
    readonly because: "lacks-role" | "nothing-waits" | "changed";
    readonly by: string;
    readonly tenant?: string;
  };
  /** Items of a source are new, and hidden until they are accepted. `waiting` counts them. */
  "pins-waiting": { readonly ensemble: string; readonly waiting: number; readonly message: string };
  /** The first item of a source was accepted, which makes the source's resources and prompts visible. */
  "ensemble-accepted": { readonly ensemble: string };
  /** A source's offer could not be compared with the accepted version. */
  "pins-failed": { readonly ensemble: string; readonly message: string };
  /** The state file was damaged, deleted or replaced. Its content is lost, so tools of sources wait for acceptance. */
  "state-lost": { readonly message: string };
  /**
   * A part of the shared state is unavailable. `limits` fail open: each process keeps its own. `documents` (approvals, pins, idempotency keys,
   * sessions) fail closed: features that need them are refused.
   */
  "state-unavailable": { readonly part: string; readonly fails: "open" | "closed"; readonly message: string };
  "state-restored": { readonly part: string };
  /** The new policy file is active. */
  "policy-reloaded": { readonly file: string };
  /** New connections use the new certificate file. */
  "certificate-reloaded": { readonly file: string; readonly validTo: string };
  /** The certificate file is invalid or cannot be watched. The old certificate stays in use. */
  "certificate-failed": { readonly file: string; readonly message: string };
  /** An HTTP request failed because of an internal error. The caller got only this fact and the id. */
  "request-failed": { readonly requestId: string; readonly path: string; readonly message: string };
  /** A source claimed a namespace that belongs to another source. `toolId` is the id that its tool got instead. */
  "namespace-refused": { readonly ensemble: string; readonly toolId: string; readonly namespace: string };
  /** A toolset contains ids that are not in the catalog. They take effect when they are registered. */
  "toolset-tools-missing": { readonly toolset: string; readonly ids: readonly string[]; readonly message: string };
  "catalog-synced": {
    readonly indexed: number;
    readonly unchanged: number;
    readonly total: number;
    readonly durationMs: number;
  };
  /** Another process on the same catalog changed this many tools. */
  "catalog-changed": { readonly changed: number; readonly deleted: number };
  /** A catalog snapshot could not be read or written. The message states the consequence and the fix. */
  "snapshot-failed": { readonly file: string; readonly message: string };
  /** `tools` counts the tools without a vector. 0 means that a request could not be embedded. */
  "embedder-failed": { readonly model: string; readonly tools: number; readonly message: string };
  /** A message between this program and an MCP server, as JSON, cut to 8,192 characters. Emitted only with `telemetry.debugProtocol`. */
  "mcp-message": { readonly server: string; readonly direction: "sent" | "received"; readonly message: string };
  "ensemble-connected": { readonly ensemble: string; readonly tools: number };
  /** A source was listed again, so its tools may have changed. */
  "ensemble-listed": { readonly ensemble: string; readonly tools: number };
  "ensemble-disconnected": { readonly ensemble: string };
  /** The signature of an agent's card matches no trusted key. */
  "card-unverified": { readonly ensemble: string; readonly message: string };
  /** `kind` is the kind of the source, if known. */
  "ensemble-failed": { readonly ensemble: string; readonly kind?: ToolSource; readonly message: string };
  "retrieval-finished": OfSpan & {
    readonly query: string;
    readonly toolset?: string;
    /** Omitted for the local operator. */
    readonly principal?: string;
    readonly tenant?: string;
    readonly tools: readonly { readonly toolId: string; readonly score: number }[];
    /** The estimated tokens of these tools' definitions. */
    readonly tokens: number;
    readonly candidateCount: number;
    readonly filteredCount: number;
    /** The estimated probability that the tools serve the request, in [0, 1]. */
    readonly confidence: number;
    readonly nothingFits: boolean;
    /** The ranker that was used. */
    readonly tier: string;
    readonly steps: RetrievalSteps;
  };
  /** A retrieval was refused, cancelled or failed. */
  "retrieval-failed": OfSpan & { readonly toolset?: string; readonly code: ErrorCode; readonly message: string };
  "call-started": OfCall & { readonly toolset?: string; readonly attempt: number };
  /** A model's arguments were repaired. `repairs` lists each change. */
  "arguments-repaired": OfCall & {
    readonly repairs: readonly { readonly path: string; readonly message: string }[];
  };
  "call-retried": OfCall & {
    readonly attempt: number;
    readonly delayMs: number;
    readonly message: string;
  };
  /** An attempt failed, and the retry budget was exhausted. */
  "retry-refused": OfCall & { readonly attempt: number };
  "call-progressed": OfCall & Progress;
  /** A call ended. It arrived at `startedAt`, and took `durationMs`. */
  "call-finished": OfCall &
    OfSpan & {
      readonly toolset?: string;
      readonly status: ExecutionStatus;
      readonly code?: ErrorCode;
      readonly message?: string;
      /** True if the result came from the result cache. */
      readonly cached?: true;
      readonly attempts: number;
      readonly queuedMs: number;
      readonly latencyMs: number;
      readonly principal: string;
      readonly tenant?: string;
      /** The cost of all attempts, if the tool declares a cost. */
      readonly cost?: number;
      /** The estimated tokens of the arguments and the result. Omitted unless the tenant's usage is counted. */
      readonly tokens?: number;
      /** The source of the tool. Omitted if the caller may not see the tool. */
      readonly source?: ToolSource;
      readonly ensemble?: string;
      /** The model's id of the call. */
      readonly callId?: string;
      readonly steps: CallSteps;
    };
  /** A request of a call to an upstream ended. `spanId` is the parent of the upstream's own spans. */
  "upstream-called": OfSpan &
    EndedRequest & { readonly toolId: string; readonly source: ToolSource; readonly ensemble?: string };
  /** The gateway answered an HTTP request, or an MCP message inside one. */
  "request-finished": OfSpan & {
    readonly kind: "http" | "mcp";
    readonly method: string;
    /** The route template (`/api/v1/tools/{id}`), or the tool, prompt or resource of an MCP request. */
    readonly target?: string;
    readonly status?: number;
    readonly protocolVersion?: string;
    readonly sessionId?: string;
    readonly requestId?: string;
    /** The JSON-RPC error code of a failed MCP request. */
    readonly error?: string;
  };
  /** A program or a workflow ended, or waits for an approval. */
  "run-turned": OfSpan & {
    readonly runId: string;
    readonly kind: "program" | "workflow";
    readonly status: "running" | "waiting" | "done" | "failed" | "cancelled";
    /** The number of its calls so far. */
    readonly calls: number;
    readonly principal: string;
    readonly tenant?: string;
    readonly toolset?: string;
    readonly message?: string;
  };
  "confirmation-requested": {
    readonly id: string;
    readonly toolId: string;
    readonly principal: string;
    readonly reason: string;
  };
  "confirmation-resolved": {
    readonly id: string;
    readonly toolId: string;
    /** `returned`: a call consumed the approval but did not run, which made the approval valid again. */
    readonly outcome: "approved" | "denied" | "expired" | "used" | "returned";
    readonly by?: string;
    readonly note?: string | undefined;
    /** Why the approval ended early. */
    readonly reason?: string;
  };
  /** An answer to an approval was rejected. */
  "confirmation-refused": {
    /** The given id, shortened. */
    readonly id: string;
    /** Omitted if the approval is unknown or settled. */
    readonly toolId?: string;
    readonly answer: "approve" | "deny";
    readonly because: "lacks-role" | "own-call" | "unknown" | "settled";
    readonly by: string;
    readonly tenant?: string;
  };
  /** A scan found something. The event never contains the text. */
  "scan-flagged": {
    readonly toolId: string;
    readonly where: TextPlace;
    readonly rules: readonly string[];
    readonly severity: Severity;
    readonly action: ScanAction;
  };
  /** A text could not be scanned completely, and was allowed or refused as configured. */
  "scan-failed": {
    readonly toolId: string;
    readonly where: TextPlace;
    readonly message: string;
    readonly action: "allowed" | "refused";
  };
  /** The audit log fails. `records` counts the records lost since the previous such event, at most one every 30 s. */
  "audit-failed": { readonly records: number; readonly message: string };
  /** The log works again. `records` counts all lost records; a `gap` record in the log does too. */
  "audit-restored": { readonly records: number };
  /** A secret is too short to be redacted. `field` is the location of its reference. */
  "secret-skipped": { readonly scope: string; readonly field: string; readonly message: string };
  /** A push notification about an A2A task could not be delivered. */
  "push-failed": {
    readonly taskId: string;
    readonly origin: string;
    readonly attempts: number;
    readonly message: string;
  };
  "circuit-opened": { readonly toolId: string; readonly consecutiveFailures: number; readonly retryAfterMs: number };
  "circuit-probed": { readonly toolId: string };
  "circuit-closed": { readonly toolId: string };
  "health-changed": { readonly toolId: string; readonly before: Health; readonly after: Health };
  /** A tenant reached a soft or hard limit of a quota, or a share of its budget. Emitted once per period, by one process. */
  "quota-reached": {
    readonly tenant: string;
    readonly unit: "calls" | "tokens" | "cost";
    readonly period: "day" | "month";
    readonly kind: "soft" | "hard" | "budget";
    /** The limit, or the reached amount of the budget. */
    readonly limit: number;
    /** The reached share of the budget, in percent. */
    readonly percent?: number;
    /** When the period ends and counting restarts, in milliseconds since the epoch. */
    readonly endsAt: number;
  };
  "sink-failed": { readonly sink: string; readonly message: string; readonly dropped: number };
}

export type EventName = keyof EventMap;

export interface EventChoice {
  /** Defaults to all. */
  readonly names?: readonly EventName[];
}

/** The severity of an event: sinks show events at or above their level. */
export type EventLevel = "debug" | "info" | "warn" | "error";

/** One event. */
export type ArsenalEvent<Name extends EventName = EventName> = {
  readonly [Key in Name]: {
    readonly name: Key;
    readonly level: EventLevel;
    /** Milliseconds since the epoch. */
    readonly at: number;
    readonly data: EventMap[Key];
  };
}[Name];

/** Emits an event. Never throws, never waits. */
export interface Emit {
  <Name extends EventName>(name: Name, data: EventMap[Name]): void;
  /** Returns false if no sink or listener wants a debug event. The caller then need not collect its data. Omitted if unknown. */
  readonly wants?: (name: EventName) => boolean;
}
