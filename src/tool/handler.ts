import type { ErrorCode } from "../errors/codes.ts";
import type { Tool, ToolSource } from "./tool.ts";

/** Runs a tool. Returns the result, or throws; a thrown `ArsenalError` keeps its code. */
export type Handler<Arguments = Record<string, unknown>> = (args: Arguments, context: HandlerContext) => unknown;

/** The context of a handler's call. */
export interface HandlerContext {
  /** Data from the caller about the conversation or the configuration. */
  readonly auxdata: Readonly<Record<string, unknown>>;
  readonly tool: Tool;
  /** The caller. Omitted if the handler runs outside an arsenal. */
  readonly caller?: Caller;
  /** True if the call used a person's approval. Repeating it needs a new approval. */
  readonly approved?: boolean;
  /** State that all tools of one ensemble share. Tools without an ensemble share it by namespace. */
  readonly state: Map<string, unknown>;
  /** Fires when the caller cancels or the timeout expires. Pass it to everything you await. */
  readonly signal: AbortSignal;
  /** The deadline of this attempt, in milliseconds since the epoch. Pass it to your own calls, so that they end in time. */
  readonly deadline?: number;
  readonly traceId: string;
  readonly spanId: string;
  /** The header `traceparent` (W3C Trace Context) for requests of this attempt. Undefined without a W3C trace id, or outside an arsenal. */
  readonly traceparent?: string | undefined;
  /** The header `tracestate` for `traceparent`. Undefined if the caller sent none. */
  readonly tracestate?: string | undefined;
  /**
   * Starts the span of a request to another program. Send its `traceparent` and `tracestate` with the request, and call `end` with the outcome.
   * Omitted if the handler runs outside an arsenal.
   */
  beginRequest?(): OutgoingRequest;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The client's original request. Only handlers of a source with the same protocol receive it. */
  readonly request?: SourceRequest;
  /** Declares that the return value, or a thrown error with `answered`, is the complete answer to `request`. The result then contains it. */
  answersRequest?(): void;
  progress(update: Progress): void;
}

/** A handler's request to another program. */
export interface OutgoingRequest {
  /** The header `traceparent` of the request. Undefined if the call's trace id is not a W3C id. */
  readonly traceparent: string | undefined;
  /** The header `tracestate` for `traceparent`. Undefined if the caller sent none. */
  readonly tracestate: string | undefined;
  /** False if requests are not recorded. `end` then does nothing. */
  readonly recorded: boolean;
  /** Records the outcome of the request. Call it once. */
  end(outcome: EndedRequest): void;
}

export interface EndedRequest {
  /** `tools/call`, or the HTTP method. */
  readonly method: string;
  /** The operation's name in the other program, or its path with parameters in braces. */
  readonly target?: string;
  readonly transport?: "pipe" | "tcp" | "http";
  /** The host name or address of the target. */
  readonly address?: string;
  readonly port?: number;
  readonly protocolVersion?: string;
  readonly sessionId?: string;
  readonly status?: number;
  /** The error code. Omitted on success. */
  readonly code?: ErrorCode;
}

/** A client's request in the protocol of a source. Each source extends this interface. */
export interface SourceRequest {
  readonly source: ToolSource;
  /** When the answer may be reused for an equal request. If omitted, answers to this request are never cached. */
  readonly reuse?: AnswerReuse;
  /** True if the client can answer questions while the request runs, so it may take longer. */
  readonly canBeAsked?: boolean;
  /** True if the client follows the request as a task, so it may take much longer. */
  readonly isTask?: boolean;
  /** Called with the requested tool before the call is checked. Not called if the tool does not exist for the caller. */
  onFound?(tool: Tool): void;
}

/** When the answer to one request can be reused for another. */
export interface AnswerReuse {
  /** Returns everything except the arguments that the answer depends on, as text. Called only if results are cached. */
  key(): string;
  /** Returns whether a result is the complete answer, without questions to the client. */
  isFinal(result: unknown): boolean;
}

/** A server's answer to a `SourceRequest`: its result, or the members of its error. */
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
