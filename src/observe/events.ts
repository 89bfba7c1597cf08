import type { ErrorCode } from "../errors/codes.ts";
import type { ExecutionStatus } from "../execute/result.ts";
import type { Place, ScanAction, Severity } from "../guard/scan/finding.ts";
import type { EndedRequest } from "../tool/handler.ts";
import type { Health, ToolSource } from "../tool/tool.ts";

interface OfCall {
  readonly toolId: string;
  readonly traceId: string;
  readonly spanId: string;
}

/** A piece of work with a beginning and an end, and its place in a trace. Sinks make spans of it. */
interface OfSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** False if the caller said that it does not record this trace. */
  readonly sampled?: false;
  /** The header `tracestate` of the trace. */
  readonly tracestate?: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** How long the steps of a retrieval took, in milliseconds. They follow each other in this order. */
export interface RetrievalSteps {
  /** Reads the request and its conversation, and embeds it. */
  readonly understandMs: number;
  /** Searches the catalog. An engine that can tell also says how the time was spent. */
  readonly searchMs: number;
  readonly filterMs?: number;
  readonly lexicalMs?: number;
  readonly denseMs?: number;
  /** Fuses the evidence and scores the candidates. */
  readonly fuseMs: number;
  readonly rerankMs?: number;
  /** Judges whether anything fits, and cuts. */
  readonly fitMs: number;
}

/** When the steps of a call happened. Times are milliseconds since the epoch, with fractions. */
export interface CallSteps {
  readonly policy?: StepTime;
  /** Taking rates, places and breaker, and waiting for a turn. */
  readonly queue?: StepTime;
  readonly attempts?: readonly AttemptTime[];
}

export interface StepTime {
  readonly startedAt: number;
  readonly durationMs: number;
}

export interface AttemptTime extends StepTime {
  /** What the attempt's own requests name as their parent. */
  readonly spanId: string;
  /** Why it failed; undefined if it did not. */
  readonly code?: ErrorCode;
}

/** Everything that happens, by name. Names are noun-verb; payloads are plain data and carry no arguments or results. */
export interface EventMap {
  "tool-registered": { readonly toolId: string; readonly version: string; readonly source: ToolSource };
  "tool-replaced": { readonly toolId: string; readonly version: string; readonly previousVersion: string };
  "tool-rejected": { readonly name: string; readonly code: ErrorCode; readonly message: string };
  "tool-deleted": { readonly toolId: string };
  /** The shared catalog holds another definition of a tool that runs here. It is not used here. `contentHash` is that of the catalog's entry. */
  "tool-conflicted": {
    readonly toolId: string;
    readonly ensemble?: string;
    readonly contentHash: string;
    readonly fields: string;
  };
  /** A tool, or a server's instructions or command, is not what was accepted. `fields` names what changed, never what it says. */
  "tool-changed": { readonly id: string; readonly ensemble: string; readonly fields: string };
  "pin-accepted": {
    readonly id: string;
    readonly hash: string;
    readonly previousHash?: string;
    readonly by: string;
  };
  /** Somebody tried to accept a tool, or a server's instructions, and could not. */
  "pin-refused": {
    /** As it was given, shortened. */
    readonly id: string;
    readonly because: "lacks-role" | "nothing-waits" | "changed";
    readonly by: string;
    readonly tenant?: string;
  };
  /** So many things of a source are new, and nobody sees them before they are accepted. */
  "pins-waiting": { readonly ensemble: string; readonly waiting: number; readonly message: string };
  /** Something of a source of which nothing was accepted is accepted: its resources and prompts can be seen from now on. */
  "ensemble-accepted": { readonly ensemble: string };
  /** What a source offers could not be compared with what was accepted. */
  "pins-failed": { readonly ensemble: string; readonly message: string };
  /** The state file was damaged, deleted or replaced: what it held is lost, and tools of sources wait to be accepted. */
  "state-lost": { readonly message: string };
  /**
   * A part of the shared state cannot be used: `limits` fail open, so each process keeps them by itself; `documents` (approvals, pins,
   * idempotency keys, sessions) fail closed, so what needs them is refused.
   */
  "state-unavailable": { readonly part: string; readonly fails: "open" | "closed"; readonly message: string };
  "state-restored": { readonly part: string };
  /** Calls from now on follow the policy that is in the file. */
  "policy-reloaded": { readonly file: string };
  /** New connections get the certificate that is in the file now. */
  "certificate-reloaded": { readonly file: string; readonly validTo: string };
  /** The certificate in the file cannot be used, or changes of it cannot be noticed. The old one stays in use. */
  "certificate-failed": { readonly file: string; readonly message: string };
  /** The gateway could not answer an HTTP request because of a fault of its own. The caller learned only that, and the id. */
  "request-failed": { readonly requestId: string; readonly path: string; readonly message: string };
  /** A source named a namespace that is not its own; `toolId` is the id its tool got. */
  "namespace-refused": { readonly ensemble: string; readonly toolId: string; readonly namespace: string };
  /** A toolset names ids that the catalog does not have. They join it when they are registered. */
  "toolset-tools-missing": { readonly toolset: string; readonly ids: readonly string[]; readonly message: string };
  "catalog-synced": {
    readonly indexed: number;
    readonly unchanged: number;
    readonly total: number;
    readonly durationMs: number;
  };
  /** Another process that shares the catalog changed so many tools. */
  "catalog-changed": { readonly changed: number; readonly deleted: number };
  /** A snapshot of the catalog could not be used or written. The message says what was done and how to fix it. */
  "snapshot-failed": { readonly file: string; readonly message: string };
  /** `tools` are those that have no vector for now; 0 where a request could not be embedded. */
  "embedder-failed": { readonly model: string; readonly tools: number; readonly message: string };
  /** A message between this program and an MCP server, as JSON, cut to 8,192 characters. Only with `telemetry.debugProtocol`. */
  "mcp-message": { readonly server: string; readonly direction: "sent" | "received"; readonly message: string };
  "ensemble-connected": { readonly ensemble: string; readonly tools: number };
  /** A source whose tools may have changed was listed again. */
  "ensemble-listed": { readonly ensemble: string; readonly tools: number };
  "ensemble-disconnected": { readonly ensemble: string };
  /** An agent signed its card, and no trusted key could check the signature. */
  "card-unverified": { readonly ensemble: string; readonly message: string };
  /** `kind` is the kind of its source, when it is known. */
  "ensemble-failed": { readonly ensemble: string; readonly kind?: ToolSource; readonly message: string };
  "retrieval-finished": OfSpan & {
    readonly query: string;
    readonly toolset?: string;
    /** Absent for the local operator. */
    readonly principal?: string;
    readonly tenant?: string;
    readonly tools: readonly { readonly toolId: string; readonly score: number }[];
    /** About how many tokens the definitions of these tools are to a model. */
    readonly tokens: number;
    readonly candidateCount: number;
    readonly filteredCount: number;
    /** How likely it is that the tools serve the request, in [0, 1]. */
    readonly confidence: number;
    readonly nothingFits: boolean;
    /** Which ranker answered. */
    readonly tier: string;
    readonly steps: RetrievalSteps;
  };
  /** A retrieval was refused, cancelled or failed. */
  "retrieval-failed": OfSpan & { readonly toolset?: string; readonly code: ErrorCode; readonly message: string };
  "call-started": OfCall & { readonly toolset?: string; readonly attempt: number };
  /** A model's arguments were made to fit, each change named. */
  "arguments-repaired": OfCall & {
    readonly repairs: readonly { readonly path: string; readonly message: string }[];
  };
  "call-retried": OfCall & {
    readonly attempt: number;
    readonly delayMs: number;
    readonly message: string;
  };
  /** An attempt failed, another could have followed, and the retry budget had none left. */
  "retry-refused": OfCall & { readonly attempt: number };
  "call-progressed": OfCall & {
    readonly progress: number;
    readonly total?: number;
    readonly message?: string;
  };
  /** It came at `startedAt`, and `durationMs` later it was answered. */
  "call-finished": OfCall &
    OfSpan & {
      /** The toolset that the caller looked through. */
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
      /** What the attempts cost, if the tool says what one costs. */
      readonly cost?: number;
      /** The source of the tool; undefined if the caller knows of no such tool. */
      readonly source?: ToolSource;
      readonly ensemble?: string;
      /** The id that the model gave the call. */
      readonly callId?: string;
      readonly steps: CallSteps;
    };
  /** A request to an upstream for a call has ended. `spanId` is what the upstream got as the parent of its own spans. */
  "upstream-called": OfSpan &
    EndedRequest & { readonly toolId: string; readonly source: ToolSource; readonly ensemble?: string };
  /** A request to the gateway was answered: one over HTTP, and for MCP also the message in it. */
  "request-finished": OfSpan & {
    readonly kind: "http" | "mcp";
    /** `POST`, or `tools/call`. */
    readonly method: string;
    /** The path that was declared, or what an MCP request names: a tool, a prompt or a resource. */
    readonly target?: string;
    readonly status?: number;
    readonly protocolVersion?: string;
    readonly sessionId?: string;
    readonly requestId?: string;
    /** The JSON-RPC code of an MCP request that failed. */
    readonly error?: string;
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
    /** `returned` where a call used it, did not run after all, and left it good again. */
    readonly outcome: "approved" | "denied" | "expired" | "used" | "returned";
    readonly by?: string;
    /** Why it ended before its time. */
    readonly reason?: string;
  };
  /** Somebody's answer to an approval did not count. */
  "confirmation-refused": {
    /** As it was given, shortened. */
    readonly id: string;
    /** Omitted if the approval is unknown, or settled. */
    readonly toolId?: string;
    readonly answer: "approve" | "deny";
    readonly because: "lacks-role" | "own-call" | "unknown" | "settled";
    readonly by: string;
    readonly tenant?: string;
  };
  /** A scan found something; the text itself is never part of this. */
  "scan-flagged": {
    readonly toolId: string;
    readonly where: Place;
    readonly rules: readonly string[];
    readonly severity: Severity;
    readonly action: ScanAction;
  };
  /** Something could not be scanned, or not to its end, and was let through or refused as configured. */
  "scan-failed": {
    readonly toolId: string;
    readonly where: Place;
    readonly message: string;
    readonly action: "allowed" | "refused";
  };
  /** `records` could not be kept since the last such event: the log began to fail, or failed for another 30 s. */
  "audit-failed": { readonly records: number; readonly message: string };
  /** The log works again. `records` are missing in all, and a `gap` record says so. */
  "audit-restored": { readonly records: number };
  /** A secret that is too short to be taken out of what is shown, by where the reference to it stands. */
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
  "sink-failed": { readonly sink: string; readonly message: string; readonly dropped: number };
}

export type EventName = keyof EventMap;

export interface EventChoice {
  /** Defaults to all. */
  readonly names?: readonly EventName[];
}

/** How loud an event is: sinks show what is at or above their level. */
export type EventLevel = "debug" | "info" | "warn" | "error";

/** One thing that happened. */
export type ArsenalEvent<Name extends EventName = EventName> = {
  readonly [Key in Name]: {
    readonly name: Key;
    readonly level: EventLevel;
    /** Milliseconds since the epoch. */
    readonly at: number;
    readonly data: EventMap[Key];
  };
}[Name];

/** What a stage needs in order to say that something happened. Never throws, never waits. */
export interface Emit {
  <Name extends EventName>(name: Name, data: EventMap[Name]): void;
  /** False if nobody listens to a debug event, so that its data need not be collected. Omitted if that is not known. */
  readonly wants?: (name: EventName) => boolean;
}
