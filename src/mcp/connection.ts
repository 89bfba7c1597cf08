import type { SourceRequest } from "../tool/handler.ts";
import type { Era, JsonObject, RpcNotification } from "./protocol.ts";

/**
 * Answers a request that a server sends to its client while a client's request is running: elicitation, sampling, roots. Rejects with an
 * `RpcError`.
 */
export type Ask = (
  method: string,
  params: JsonObject | undefined,
  options: {
    readonly signal: AbortSignal;
    /**
     * The state to continue from after the answer, as JSON. In the modern era the request ends with this question, and its signal fires. The client
     * repeats the request, and any process gets this value as `Exchange.resumed`. Ignored in the legacy era.
     */
    readonly resume?: JsonObject;
  },
) => Promise<JsonObject>;

export interface RequestOptions {
  /** Cancels the request, and notifies the server. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the server's notifications about this request while it runs: progress under the caller's own token, log messages. */
  readonly onNotification?: ((notification: RpcNotification) => void) | undefined;
  /** HTTP headers to send with this request alone, if the transport has headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface ClientIdentity {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
}

export interface ServerDescription {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

/** One open connection to an MCP server. Params are sent and results returned unchanged: not validated, completed or shortened. */
export interface McpConnection {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly server: ServerDescription;
  /** False once the connection ended, by either side. */
  readonly open: boolean;
  /**
   * Resolves with the raw result, which may be an `input_required` one. Rejects with an `RpcError` if the server answers with an error, and
   * with an `ArsenalError` (TRANSPORT_FAILED, OUTCOME_UNKNOWN, CANCELLED, PROTOCOL_ERROR) if it does not answer.
   */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /**
   * Registers a listener for the server's notifications outside any request: list changes, resource updates, log messages. Returns a function that
   * removes the listener.
   */
  onNotification(listener: (notification: RpcNotification) => void): () => void;
  /**
   * Sets the handler for the server's own requests (legacy era). There is at most one handler. Without a handler, requests are refused as unknown
   * methods.
   */
  setAsk(ask: Ask | undefined): void;
  /** Calls back once when the connection has ended. `error` is the reason; it is undefined after `close`. */
  onClosed(listener: (error: Error | undefined) => void): () => void;
  close(): Promise<void>;
}

export type Requester = Pick<McpConnection, "request">;

/** The request that an MCP surface passes to an MCP tool's handler with a call, so that it reaches the server unchanged. */
export interface McpRequest extends SourceRequest {
  readonly source: "mcp";
  /** Members of the caller's `params` other than `name` and `arguments`: `_meta`, `inputResponses`, `requestState`, `task`. */
  readonly extra?: JsonObject;
  /** The connection of the caller's session. Defaults to the upstream's shared connections. */
  readonly connection?: Requester;
  readonly ask?: Ask;
  readonly passInputRequired?: boolean;
  readonly onNotification?: (notification: RpcNotification) => void;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the server answers with a task. The call then follows the task to its end. */
  readonly onTask?: (() => void) | undefined;
  /** The method that the client called. Defaults to `tools/call`. */
  readonly method?: string;
  /** Ends the subscription if the call creates one. */
  readonly until?: AbortSignal;
}

/** The part of an MCP request that the caller of a surface controls. */
export type McpRequestParts = Omit<McpRequest, "source">;

export type OnMessage = (direction: "sent" | "received", message: unknown) => void;
