import type { ErrorCode } from "../errors/codes.ts";
import type { Tool, ToolSource } from "./tool.ts";

/** Runs a tool. Returns the result, or throws; a thrown `ArsenalError` keeps its code. */
export type Handler<Arguments = Record<string, unknown>> = (args: Arguments, context: HandlerContext) => unknown;

/** The context of a handler's call. */
export interface HandlerContext {
  /** Auxiliary data of the conversation or the configuration, as given by the caller. */
  readonly auxdata: Readonly<Record<string, unknown>>;
  readonly tool: Tool;
  /** The caller. Omitted if a handler runs outside an arsenal. */
  readonly caller?: Caller;
  /** True if the call used a person's approval: repeating it needs a new one. */
  readonly approved?: boolean;
  /** State shared by all calls to the tools of one ensemble, or of one namespace for tools without an ensemble. */
  readonly state: Map<string, unknown>;
  /** Fires when the caller cancels or the time is up. Pass it to everything you await. */
  readonly signal: AbortSignal;
  /** The deadline of this attempt, in milliseconds since the epoch. Pass it to your own calls, so that none outlives yours. */
  readonly deadline?: number;
  readonly traceId: string;
  readonly spanId: string;
  /** The header `traceparent` (W3C Trace Context) for requests of this attempt. Undefined if the call's trace id is not a W3C id, or the handler runs outside an arsenal. */
  readonly traceparent?: string | undefined;
  /** The header `tracestate` that belongs to `traceparent`. Undefined if the caller sent none. */
  readonly tracestate?: string | undefined;
  /**
   * Starts the span of a request to another program. Send its `traceparent` and `tracestate` along, and call `end` with the outcome. Omitted if the
   * handler runs outside an arsenal.
   */
  beginRequest?(): OutgoingRequest;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The client's original request. Only handlers of a source with the same protocol get it. */
  readonly request?: SourceRequest;
  /** Declares that the handler's return value, or a thrown error with `answered`, is the complete answer to `request`. The result then carries it. */
  answersRequest?(): void;
  /** Reports progress to the caller. */
  progress(update: Progress): void;
}

/** A handler's request to another program. */
export interface OutgoingRequest {
  /** The header `traceparent` of the request. Undefined if the call's trace id is not a W3C id. */
  readonly traceparent: string | undefined;
  /** The header `tracestate` that belongs to it. Undefined if the caller sent none. */
  readonly tracestate: string | undefined;
  /** False if requests are not recorded: `end` then does nothing. */
  readonly recorded: boolean;
  /** Records how it ended. Call it once. */
  end(outcome: EndedRequest): void;
}

/** The outcome of a request. */
export interface EndedRequest {
  /** `tools/call`, or the HTTP method. */
  readonly method: string;
  /** The other program's name for the called operation, or its path with parameters in braces. */
  readonly target?: string;
  readonly transport?: "pipe" | "tcp" | "http";
  /** The target: a host name or an address. */
  readonly address?: string;
  readonly port?: number;
  readonly protocolVersion?: string;
  readonly sessionId?: string;
  /** The HTTP status of the response. */
  readonly status?: number;
  /** Why it failed. Omitted on success. */
  readonly code?: ErrorCode;
}

/** A client's request in the protocol of a source. A source's own interface extends it. */
export interface SourceRequest {
  readonly source: ToolSource;
  /** When the answer may be reused for an equal request. Omitted: answers to this request are never cached. */
  readonly reuse?: AnswerReuse;
  /** True if the client answers questions while the request runs, so that it may take longer. */
  readonly canBeAsked?: boolean;
  /** True if the client follows the request as a task, so that it may take much longer. */
  readonly isTask?: boolean;
  /** Called with the tool that the request names, before the call is checked. Not called if the caller knows of no such tool. */
  onFound?(tool: Tool): void;
}

/** When the answer to one request can be reused for another. */
export interface AnswerReuse {
  /** Returns everything besides the arguments that the answer depends on, as text. Called only if results are cached. */
  key(): string;
  /** Whether a result is the complete answer, given without a question to the client. */
  isFinal(result: unknown): boolean;
}

/** A server's answer to such a request: its result, or the members of its error. */
export type SourceAnswer = { readonly result: unknown } | { readonly error: unknown };

/** The name and the tenant of the caller. */
export interface Caller {
  readonly id: string;
  readonly tenant?: string;
  /** True for the local operator. Defaults to false. */
  readonly local?: boolean;
}

/** The progress of a running call. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
