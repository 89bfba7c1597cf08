import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { toWire } from "../../errors/to-wire.ts";
import type { Ask, ServerDescription } from "../../mcp/connection.ts";
import type { TraceContext } from "../../observe/trace-context.ts";
import type { Peer } from "../../mcp/envelope.ts";
import {
  type JsonObject,
  type RequestId,
  RPC,
  RpcError,
  type RpcErrorBody,
  type RpcNotification,
} from "../../mcp/protocol.ts";
import type { OnRevoked } from "../surface.ts";
export type { Peer };

/** One request of a client. It is answered once. */
export interface Exchange {
  readonly id: RequestId;
  readonly method: string;
  /** The params as the client sent them, including `_meta`. */
  readonly params: JsonObject;
  readonly peer: Peer;
  /** Fires when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** Aborts `signal` with this reason when the gateway shuts down. Omitted if the signal is shared with other requests. */
  readonly abort?: (reason: unknown) => void;
  /** Sends a message that belongs to this request before its result: progress or a log message. */
  notify(notification: RpcNotification): void;
  /**
   * Sends a request to the client and waits for its answer: elicitation, sampling, roots. In the modern era, the client's request is answered with
   * `input_required` and continues when the client repeats it. Rejects with an `RpcError` if the client refuses or did not declare the capability.
   */
  readonly ask: Ask;
  /** Set if this request restarts a call from a question with `resume`: the state of the question, and the client's answer if there is one. */
  readonly resumed?: { readonly state: JsonObject; readonly answer?: JsonObject };
  /**
   * Called when the server has made a task of the call, so that the client need not wait. Set only if the client can follow the call as a task, which
   * may then take longer.
   */
  readonly becomesTask?: () => void;
  /** Lets the caller sign in to a server, if the client can open URLs. Undefined if there is no page for signing in. */
  readonly signIn?: ClientSignIn | undefined;
  /** The HTTP headers of the request, in lower case. Empty on other transports. */
  readonly headers: Readonly<Record<string, string>>;
  /** The trace context for the request's work. */
  readonly trace?: TraceContext;
  /** Watches the caller's credentials. Undefined if they cannot be revoked, or if the transport ends the request itself. */
  readonly onRevoked?: OnRevoked | undefined;
}

export interface ClientSignIn {
  /** Returns the address of the page on which the caller signs in to a server. */
  pageOf(server: string): string;
  /** Resolves when the caller is signed in. */
  done(server: string, signal: AbortSignal): Promise<void>;
}

/** Notifications to a client: list changes, resource updates. */
export type Push = (notification: RpcNotification) => void;

/** One client's connection to a plane. In the legacy era it is a session; in the modern era all clients of a plane share one. */
export interface PlaneSession {
  /** Returns the result of `initialize` and `server/discover`. */
  describe(): Promise<ServerDescription>;
  /** Answers a request with its raw result. Rejects with an `RpcError` for the client, or with any other error for an internal failure. */
  handle(exchange: Exchange): Promise<JsonObject>;
  /** Accepts a client's notification, except `initialized` and `cancelled`. */
  notified(notification: RpcNotification): void;
  close(): Promise<void>;
}

/** Serves MCP clients at one address: all upstreams as one server, or one upstream unchanged. */
export interface Plane {
  /** The plane's name in logs and errors. */
  readonly name: string;
  /** Opens a legacy client's session. `push` sends notifications and `ask` sends requests to that client outside any request. */
  openSession(peer: Peer, channel: { readonly push: Push; readonly ask: Ask }): Promise<PlaneSession>;
  /** The session that all modern requests share. */
  readonly shared: PlaneSession;
  /** Calls `push` for notifications that match a modern client's filter, until the signal fires. Returns the supported part of the filter. */
  listen(
    filter: JsonObject,
    push: Push,
    options: { readonly peer: Peer; readonly signal: AbortSignal },
  ): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Rejects, because a client cannot answer questions on a listening stream. */
export const nobodyToAsk: Ask = () =>
  Promise.reject(new ArsenalError("EXECUTION_FAILED", "A client cannot answer questions on a listening stream."));

/** Returns the function that sends a server's requests to the client of an exchange, if the client supports them. */
export function askOf({ peer, ask }: Pick<Exchange, "peer" | "ask">): { readonly ask?: Ask } {
  return canBeAsked(peer) ? { ask } : {};
}

/** Returns true for a client that declared support for requests from a server. */
export function canBeAsked({ capabilities }: Peer): boolean {
  return "elicitation" in capabilities || "sampling" in capabilities || "roots" in capabilities;
}

/** Returns the error for the client. The message of an unexpected error is hidden, because it could contain paths or secrets. */
export function errorBody(error: unknown): RpcErrorBody {
  if (error instanceof RpcError) return error.body;
  if (!isArsenalError(error))
    return { code: RPC.internalError, message: "Internal error: the request could not be answered." };
  return { code: toWire(error.code).jsonRpcCode, message: error.message, data: { code: error.code } };
}
