import type { ErrorCode } from "../errors/codes.ts";
import type { Tool, ToolSource } from "./tool.ts";

/** Runs a tool. Returns the result, or throws; a thrown `ArsenalError` keeps its code. */
export type Handler<Arguments = Record<string, unknown>> = (args: Arguments, context: HandlerContext) => unknown;

/** What a handler gets besides its arguments. */
export interface HandlerContext {
  /** Auxiliary data of the conversation or the configuration, as the caller gave it. */
  readonly auxdata: Readonly<Record<string, unknown>>;
  readonly tool: Tool;
  /** Who asks. Absent if a handler is run outside an arsenal. */
  readonly caller?: Caller;
  /** True when the call used up a person's approval: making it again needs a new one. */
  readonly approved?: boolean;
  /** State shared by all calls to the tools of one ensemble, or of one namespace for tools without an ensemble. */
  readonly state: Map<string, unknown>;
  /** Fires when the caller cancels or the time is up. Pass it on to whatever you wait for. */
  readonly signal: AbortSignal;
  /** When this attempt must have ended, in milliseconds since the epoch. Pass it on to the calls you make, so that none outlives yours. */
  readonly deadline?: number;
  readonly traceId: string;
  readonly spanId: string;
  /**
   * The header `traceparent` (W3C Trace Context) for requests that this attempt makes. Undefined if the call's trace id is not one of W3C's, or
   * the handler is run outside an arsenal.
   */
  readonly traceparent?: string | undefined;
  /** The header `tracestate` that belongs to `traceparent`. Undefined if the caller sent none. */
  readonly tracestate?: string | undefined;
  /**
   * Starts the span of a request to another program. Send its `traceparent` and `tracestate` along, and call `end` with the outcome. Omitted if the
   * handler runs outside an arsenal.
   */
  beginRequest?(): OutgoingRequest;
  /** 1 for the first try. */
  readonly attempt: number;
  /** The client's request that the call stands for. Only handlers of the source whose protocol it is in get it. */
  readonly request?: SourceRequest;
  /** Says that what the handler returns, or throws with `answered`, is the whole answer to `request`. The result then carries it. */
  answersRequest?(): void;
  /** Tells the caller how far the work is. */
  progress(update: Progress): void;
}

/** A request that a handler makes of another program. */
export interface OutgoingRequest {
  /** The header `traceparent` of the request. Undefined if the call's trace id is not one of W3C's. */
  readonly traceparent: string | undefined;
  /** The header `tracestate` that belongs to it. Undefined if the caller sent none. */
  readonly tracestate: string | undefined;
  /** False if nobody records requests: `end` then does nothing. */
  readonly recorded: boolean;
  /** Records how it ended. Call it once. */
  end(told: EndedRequest): void;
}

/** How a request ended. */
export interface EndedRequest {
  /** `tools/call`, or the HTTP method. */
  readonly method: string;
  /** The other program's name for what was called, or the path of an operation with its parameters in braces. */
  readonly target?: string;
  readonly transport?: "pipe" | "tcp" | "http";
  /** Where the request went: a host name or an address. */
  readonly address?: string;
  readonly port?: number;
  readonly protocolVersion?: string;
  readonly sessionId?: string;
  /** The HTTP status of the answer. */
  readonly status?: number;
  /** Why it failed. Omitted if it did not. */
  readonly code?: ErrorCode;
}

/** A client's request in the protocol of a source. A source's own interface says what more there is to it. */
export interface SourceRequest {
  readonly source: ToolSource;
  /** How the answer may be given again to an equal request. Omitted: answers to this request are never cached. */
  readonly reuse?: AnswerReuse;
  /** True if the client answers questions while the request runs, so that it may take longer. */
  readonly canBeAsked?: boolean;
  /** Called with the tool that the request names, before the call is checked. Not called if the caller knows of no such tool. */
  onFound?(tool: Tool): void;
}

/** When the answer to one request also answers another. */
export interface AnswerReuse {
  /** Returns everything besides the arguments that the answer depends on, as text. Called only if results are cached. */
  key(): string;
  /** Whether a result is the whole answer and nobody was asked for it. */
  isFinal(result: unknown): boolean;
}

/** What a server answered to such a request: its result, or the members of its error. */
export type SourceAnswer = { readonly result: unknown } | { readonly error: unknown };

/** The name and the tenant of the caller. */
export interface Caller {
  readonly id: string;
  readonly tenant?: string;
  /** True for the person at this machine. Defaults to false. */
  readonly local?: boolean;
}

/** How far a running call is. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
