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

/** Work with a beginning and an end, and its position in a trace. Sinks convert it to spans. */
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

/** The duration of each step of a retrieval, in milliseconds. The steps follow each other in this order. */
export interface RetrievalSteps {
  /** Parsing the request and its conversation, and embedding it. */
  readonly understandMs: number;
  /** Searching the catalog. Some engines also report the time of each part. */
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

/** The times of a call's steps, in milliseconds since the epoch, with fractions. */
export interface CallSteps {
  readonly policy?: StepTime;
  /** Reserving rates, places and the breaker, and waiting in the queue. */
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
  /** Why it failed; undefined if it succeeded. */
  readonly code?: ErrorCode;
}

/** Every event, by name. Names are noun-verb; payloads are plain data without arguments or results. */
export interface EventMap {
  "tool-registered": { readonly toolId: string; readonly version: string; readonly source: ToolSource };
  "tool-replaced": { readonly toolId: string; readonly version: string; readonly previousVersion: string };
  "tool-rejected": { readonly name: string; readonly code: ErrorCode; readonly message: string };
  "tool-deleted": { readonly toolId: string };
  /** The shared catalog has a different definition of a tool that runs here. It is not used here. `contentHash` is that of the catalog's entry. */
  "tool-conflicted": {
    readonly toolId: string;
    readonly ensemble?: string;
    readonly contentHash: string;
    readonly fields: string;
  };
  /** A tool, or a server's instructions or command, differs from the accepted version. `fields` names the changed fields, never their values. */
  "tool-changed": { readonly id: string; readonly ensemble: string; readonly fields: string };
  "pin-accepted": {
    readonly id: string;
    readonly hash: string;
    readonly previousHash?: string;
    readonly by: string;
  };
  /** An attempt to accept a tool, or a server's instructions, failed. */
  "pin-refused": {
    /** The id as it was given, shortened. */
    readonly id: string;
    readonly because: "lacks-role" | "nothing-waits" | "changed";
    readonly by: string;
    readonly tenant?: string;
  };
  /** This many items of a source are new and hidden until they are accepted. */
  "pins-waiting": { readonly ensemble: string; readonly waiting: number; readonly message: string };
  /** The first item of a source was accepted: its resources and prompts are visible from now on. */
  "ensemble-accepted": { readonly ensemble: string };
  /** A source's offer could not be compared with the accepted version. */
  "pins-failed": { readonly ensemble: string; readonly message: string };
  /** The state file was damaged, deleted or replaced: its contents are lost, and tools of sources wait to be accepted. */
  "state-lost": { readonly message: string };
  /**
   * A part of the shared state is unavailable: `limits` fail open, so each process keeps its own; `documents` (approvals, pins,
   * idempotency keys, sessions) fail closed, so features that need them are refused.
   */
  "state-unavailable": { readonly part: string; readonly fails: "open" | "closed"; readonly message: string };
  "state-restored": { readonly part: string };
  /** Calls from now on follow the new policy file. */
  "policy-reloaded": { readonly file: string };
  /** New connections use the new certificate file. */
  "certificate-reloaded": { readonly file: string; readonly validTo: string };
  /** The certificate file is invalid or cannot be watched. The old certificate stays in use. */
  "certificate-failed": { readonly file: string; readonly message: string };
  /** The gateway failed to answer an HTTP request because of an internal error. The caller received only that fact and the id. */
  "request-failed": { readonly requestId: string; readonly path: string; readonly message: string };
  /** A source named a namespace that belongs to another; `toolId` is the id that its tool got. */
  "namespace-refused": { readonly ensemble: string; readonly toolId: string; readonly namespace: string };
  /** A toolset names ids that are not in the catalog. They join it when they are registered. */
  "toolset-tools-missing": { readonly toolset: string; readonly ids: readonly string[]; readonly message: string };
  "catalog-synced": {
    readonly indexed: number;
    readonly unchanged: number;
    readonly total: number;
    readonly durationMs: number;
  };
  /** Another process that shares the catalog changed this many tools. */
  "catalog-changed": { readonly changed: number; readonly deleted: number };
  /** A catalog snapshot could not be read or written. The message states the consequence and the fix. */
  "snapshot-failed": { readonly file: string; readonly message: string };
  /** `tools` counts the tools that have no vector for now; 0 if a request could not be embedded. */
  "embedder-failed": { readonly model: string; readonly tools: number; readonly message: string };
  /** A message between this program and an MCP server, as JSON, cut to 8,192 characters. Only with `telemetry.debugProtocol`. */
  "mcp-message": { readonly server: string; readonly direction: "sent" | "received"; readonly message: string };
  "ensemble-connected": { readonly ensemble: string; readonly tools: number };
  /** A source whose tools may have changed was listed again. */
  "ensemble-listed": { readonly ensemble: string; readonly tools: number };
  "ensemble-disconnected": { readonly ensemble: string };
  /** An agent signed its card, and no trusted key could verify the signature. */
  "card-unverified": { readonly ensemble: string; readonly message: string };
  /** `kind` is the kind of its source, if known. */
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
    /** How likely it is that the tools serve the request, in [0, 1]. */
    readonly confidence: number;
    readonly nothingFits: boolean;
    /** The ranker that answered. */
    readonly tier: string;
    readonly steps: RetrievalSteps;
  };
  /** A retrieval was refused, cancelled or failed. */
  "retrieval-failed": OfSpan & { readonly toolset?: string; readonly code: ErrorCode; readonly message: string };
  "call-started": OfCall & { readonly toolset?: string; readonly attempt: number };
  /** A model's arguments were repaired; lists each change. */
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
  /** The call arrived at `startedAt` and was answered `durationMs` later. */
  "call-finished": OfCall &
    OfSpan & {
      /** The toolset of the caller. */
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
      /** The cost of the attempts, if the tool declares one. */
      readonly cost?: number;
      /** The estimated tokens of the arguments and the result, if the usage of the tenant is counted. */
      readonly tokens?: number;
      /** The source of the tool; undefined if the caller may not see such a tool. */
      readonly source?: ToolSource;
      readonly ensemble?: string;
      /** The id from the model. */
      readonly callId?: string;
      readonly steps: CallSteps;
    };
  /** A request to an upstream for a call ended. `spanId` is the parent that the upstream received for its own spans. */
  "upstream-called": OfSpan &
    EndedRequest & { readonly toolId: string; readonly source: ToolSource; readonly ensemble?: string };
  /** A request to the gateway was answered: an HTTP request, and for MCP also the message in it. */
  "request-finished": OfSpan & {
    readonly kind: "http" | "mcp";
    /** `POST`, or `tools/call`. */
    readonly method: string;
    /** The template of the route (`/api/v1/tools/{id}`), or the tool, prompt or resource that an MCP request names. */
    readonly target?: string;
    readonly status?: number;
    readonly protocolVersion?: string;
    readonly sessionId?: string;
    readonly requestId?: string;
    /** The JSON-RPC code of an MCP request that failed. */
    readonly error?: string;
  };
  /** A program or a workflow ended, or waits for a person. */
  "run-turned": OfSpan & {
    readonly runId: string;
    readonly kind: "program" | "workflow";
    readonly status: "running" | "waiting" | "done" | "failed" | "cancelled";
    /** The number of its calls so far. */
    readonly calls: number;
    readonly principal: string;
    readonly tenant?: string;
    readonly toolset?: string;
    /** Why it failed. */
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
    /** `returned`: a call used the approval, did not run, and made it valid again. */
    readonly outcome: "approved" | "denied" | "expired" | "used" | "returned";
    readonly by?: string;
    /** Why the approver decided so. */
    readonly note?: string | undefined;
    /** Why it ended early. */
    readonly reason?: string;
  };
  /** An answer to an approval was rejected. */
  "confirmation-refused": {
    /** The id as it was given, shortened. */
    readonly id: string;
    /** Omitted if the approval is unknown, or settled. */
    readonly toolId?: string;
    readonly answer: "approve" | "deny";
    readonly because: "lacks-role" | "own-call" | "unknown" | "settled";
    readonly by: string;
    readonly tenant?: string;
  };
  /** A scan found something; the text itself is never included. */
  "scan-flagged": {
    readonly toolId: string;
    readonly where: TextPlace;
    readonly rules: readonly string[];
    readonly severity: Severity;
    readonly action: ScanAction;
  };
  /** Something could not be scanned completely, and was allowed or refused as configured. */
  "scan-failed": {
    readonly toolId: string;
    readonly where: TextPlace;
    readonly message: string;
    readonly action: "allowed" | "refused";
  };
  /** `records` could not be written since the last such event: the log began to fail, or failed for another 30 s. */
  "audit-failed": { readonly records: number; readonly message: string };
  /** The log works again. `records` are missing in total, and a `gap` record marks it. */
  "audit-restored": { readonly records: number };
  /** A secret is too short to be redacted; `field` is the location of its reference. */
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
  /** A tenant reached a soft or hard limit of a quota, or a share of its budget. Emitted once for each period, by one process. */
  "quota-reached": {
    readonly tenant: string;
    readonly unit: "calls" | "tokens" | "cost";
    readonly period: "day" | "month";
    readonly kind: "soft" | "hard" | "budget";
    /** The limit, or the amount of the budget that was reached. */
    readonly limit: number;
    /** The share of the budget, in percent. */
    readonly percent?: number;
    /** Milliseconds since the epoch when counting begins anew. */
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
  /** Returns false if no sink or listener wants a debug event, so that its data need not be collected. Omitted if that is unknown. */
  readonly wants?: (name: EventName) => boolean;
}
