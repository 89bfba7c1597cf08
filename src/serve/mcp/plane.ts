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

/** One request of a client, answered once. */
export interface Exchange {
  readonly id: RequestId;
  readonly method: string;
  /** The params as the client sent them, including `_meta`. */
  readonly params: JsonObject;
  readonly peer: Peer;
  /** Fires when the client cancels the request or goes away. */
  readonly signal: AbortSignal;
  /** Aborts `signal` with this reason when the gateway shuts down. Omitted if the signal does not belong to this request. */
  readonly abort?: (reason: unknown) => void;
  /** Sends messages that belong to this request before its result: progress and log messages. */
  notify(notification: RpcNotification): void;
  /**
   * Sends a request to the client and waits for its answer: elicitation, sampling, roots. In the modern era the client's request is answered with
   * `input_required` and continues when the client repeats it. Rejects with an `RpcError` if the client refuses or did not declare the
   * capability.
   */
  readonly ask: Ask;
  /** Set on a repeat that starts over from a question with `resume`: that data, and the client's answer if there is one. */
  readonly resumed?: { readonly state: JsonObject; readonly answer?: JsonObject };
  /**
   * Called when the server has made a task of the call: there is nothing to wait for. Set only if the client can follow the call as a task, which
   * may then take longer.
   */
  readonly becomesTask?: () => void;
  /** Lets the caller sign in to a server, if the client can show addresses. Undefined without a page for signing in. */
  readonly signIn?: ClientSignIn | undefined;
  /** The HTTP headers that the request came with, lower case; empty on other transports. */
  readonly headers: Readonly<Record<string, string>>;
  /** The trace context for work that the request causes. */
  readonly trace?: TraceContext;
  /** Watches the caller's credentials. Undefined if they cannot be revoked, or if the transport ends the request itself. */
  readonly onRevoked?: OnRevoked | undefined;
}

/** How the person at a client signs in to a server. */
export interface ClientSignIn {
  /** The page on which the caller signs in to a server. */
  pageOf(server: string): string;
  /** Resolves when the caller is signed in. */
  done(server: string, signal: AbortSignal): Promise<void>;
}

/** Notifications to a client: list changes, resource updates. */
export type Push = (notification: RpcNotification) => void;

/** One client's connection to a plane: a session in the legacy era; in the modern era one session of the plane, shared by all clients. */
export interface PlaneSession {
  /** The result of `initialize` and `server/discover`. */
  describe(): Promise<ServerDescription>;
  /** Answers a request with its raw result. Rejects with an `RpcError` for the client, or any error for an internal one. */
  handle(exchange: Exchange): Promise<JsonObject>;
  /** Takes a client's notification other than `initialized` and `cancelled`. */
  notified(notification: RpcNotification): void;
  close(): Promise<void>;
}

/** Serves MCP clients at one address: every upstream as one server, or one upstream unchanged. */
export interface Plane {
  /** The plane's name in logs and errors. */
  readonly name: string;
  /** Opens a legacy client's session; `push` sends notifications, and `ask` sends requests, to that client outside any request. */
  openSession(peer: Peer, channel: { readonly push: Push; readonly ask: Ask }): Promise<PlaneSession>;
  /** The one session that all modern requests share. */
  readonly shared: PlaneSession;
  /**
   * Calls `push` for the notifications that match a modern client's filter until the signal fires. Returns the part of the filter that is
   * honoured.
   */
  listen(
    filter: JsonObject,
    push: Push,
    options: { readonly peer: Peer; readonly signal: AbortSignal },
  ): Promise<JsonObject>;
  /** Ends every session. */
  close(): Promise<void>;
}

/** A listening stream has no request during which its client could get questions. */
export const nobodyToAsk: Ask = () =>
  Promise.reject(new ArsenalError("EXECUTION_FAILED", "A client that listens cannot be asked."));

/** Returns the function that sends a server's requests to the client of an exchange, if the client supports them. */
export function askOf({ peer, ask }: Pick<Exchange, "peer" | "ask">): { readonly ask?: Ask } {
  return canBeAsked(peer) ? { ask } : {};
}

/** True for a client that declared support for requests from a server. */
export function canBeAsked({ capabilities }: Peer): boolean {
  return "elicitation" in capabilities || "sampling" in capabilities || "roots" in capabilities;
}

/** The error that a client gets. An unexpected error is sent without its message, which could name paths or secrets. */
export function errorBody(error: unknown): RpcErrorBody {
  if (error instanceof RpcError) return error.body;
  if (!isArsenalError(error))
    return { code: RPC.internalError, message: "Internal error: the request could not be answered." };
  return { code: toWire(error.code).jsonRpcCode, message: error.message, data: { code: error.code } };
}
