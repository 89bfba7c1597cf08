import { ArsenalError, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { createOpenMap } from "../../../../base/open-entries.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import type { Clock } from "../../../../observe/clock.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { ClientIdentity, McpConnection, RequestOptions, ServerDescription } from "../../../../mcp/connection.ts";
import { createAskDesk } from "./ask-desk.ts";
import { isSessionExpired, isUnreachable, toFailure, unknownOutcome } from "./failures.ts";
import {
  META,
  type Era,
  type JsonObject,
  RpcError,
  type RpcNotification,
  type RpcResponse,
} from "../../../../mcp/protocol.ts";
import { type Tap, toRequestId } from "../transports/tap.ts";
import { createRelayLimits } from "./relay-limits.ts";
import { MessageTooLong } from "../../../../mcp/wire-message.ts";

interface HandshakeResult {
  readonly name: string;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly server: ServerDescription;
  readonly identity: ClientIdentity;
  readonly clock: Clock;
  /** Ends the server's session, if there is one. */
  readonly farewell?: (() => Promise<void>) | undefined;
  /** Receives the log messages that pass the rate limit, for all requests. */
  readonly onLog?: ((message: RpcNotification) => void) | undefined;
}

/** A connection, with a function by which the transport's watcher ends it. */
export type LiveConnection = ReturnType<typeof createLiveConnection>;

interface PendingRequest {
  readonly method: string;
  readonly callerToken: unknown;
  readonly onNotification: RequestOptions["onNotification"];
  readonly progress: ReturnType<ReturnType<typeof createRelayLimits>["progress"]> | undefined;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** Notifications that concern every caller, even if they arrive on the stream of one request. */
const FOR_ALL = /^notifications\/(?:resources\/updated|(?:tools|prompts|resources|roots)\/list_changed)$/;

/**
 * Creates a connection over a transport after its handshake. Requests have ids of their own and bypass the SDK's client. Responses are returned
 * unparsed.
 */
export function createLiveConnection(tap: Tap, established: HandshakeResult) {
  const { name, era, protocolVersion, server, identity, clock, farewell, onLog } = established;
  const limits = createRelayLimits(name, clock);
  const pending = createOpenMap<string, PendingRequest>();
  const listeners = new Set<(notification: RpcNotification) => void>();
  const closedListeners = new Set<(error: Error | undefined) => void>();
  const desk = createAskDesk((response) => tap.send(response));
  const envelope = {
    [META.protocolVersion]: protocolVersion,
    [META.clientInfo]: identity.info,
    [META.clientCapabilities]: identity.capabilities,
  };
  let count = 0;
  let ending: { readonly error: Error | undefined } | undefined;

  /** Refuses new requests, and notifies the listeners. */
  const announce = (error: Error | undefined): void => {
    if (ending !== undefined) return;
    ending = { error };
    for (const listener of closedListeners) listener(error);
    closedListeners.clear();
  };

  /** Ends the connection at once. Open requests fail. */
  const finish = (error: Error | undefined): void => {
    announce(error);
    desk.close();
    listeners.clear();
    const lost = pending.values();
    pending.clear();
    const why = error?.message ?? "the connection was closed";
    for (const { method, reject } of lost)
      reject(unknownOutcome(`${method} on the MCP server "${name}" was sent, and its answer was lost: ${why}`, error));
  };

  /** Ends the connection because of an event outside a request. */
  const end = (failure: Error): void => {
    finish(failure);
    tap.close().catch(() => {});
  };

  /** Ends the connection after all requests in progress have ended. */
  const retire = (failure: Error): void => {
    announce(failure);
    if (pending.size === 0) end(failure);
  };

  const settle = (id: string): PendingRequest | undefined => {
    const entry = pending.take(id);
    if (entry !== undefined && ending?.error !== undefined && pending.size === 0) end(ending.error);
    return entry;
  };

  const answered = (response: RpcResponse): void => {
    const entry = settle(String(response.id));
    if (entry === undefined) return;
    if ("result" in response) entry.resolve(response.result);
    else entry.reject(new RpcError(response.error));
  };

  const toListeners = (notification: RpcNotification): void => {
    for (const listener of listeners) listener(notification);
  };

  const told = (notification: RpcNotification, about: string | undefined): void => {
    const { method, params } = notification;
    if (method === "notifications/progress") {
      const entry = pending.get(String(params?.["progressToken"]));
      entry?.progress?.push({ ...notification, params: { ...params, progressToken: entry.callerToken } });
      return;
    }
    if (method === "notifications/cancelled" && desk.cancel(params?.["requestId"])) return;
    const give = concernedBy(notification, about) ?? toListeners;
    if (method !== "notifications/message") return give(notification);
    limits.log(notification, (message) => {
      onLog?.(message);
      give(message);
    });
  };

  /** Finds the receiver of a notification: the subscription that it names, the request on whose stream it arrived, or the only listener. */
  const concernedBy = (
    { method, params }: RpcNotification,
    about: string | undefined,
  ): PendingRequest["onNotification"] => {
    const meta = params?.["_meta"];
    const subscription = isPlainObject(meta) ? meta[META.subscriptionId] : undefined;
    if (subscription !== undefined) return pending.get(String(subscription))?.onNotification;
    if (FOR_ALL.test(method)) return undefined;
    if (about !== undefined) return pending.get(about)?.onNotification;
    if (method !== "notifications/message") return undefined;
    const listening = pending.values().filter((each) => each.onNotification && each.method !== "subscriptions/listen");
    return listening.length === 1 ? listening[0]?.onNotification : undefined;
  };

  const request: McpConnection["request"] = (method, params, { signal, onNotification, headers } = {}) => {
    if (ending !== undefined) return Promise.reject(notOpen(method, name, ending.error));
    if (signal?.aborted) return Promise.reject(toCancelled(signal.reason, method, name));
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const id = toRequestId(++count);
    const given = metaFor(era, params?.["_meta"]);
    const callerToken = given?.["progressToken"];
    const meta = {
      ...(era === "modern" ? envelope : {}),
      ...given,
      // Callers who share a connection may choose the same token, so the server gets a unique one.
      ...(callerToken === undefined ? {} : { progressToken: id }),
    };
    const untouched = era === "legacy" && callerToken === undefined && given === params?.["_meta"];
    const sent = untouched ? params : { ...params, _meta: meta };

    // A modern server notices the cancellation when the stream ends. A legacy server is notified first.
    const stream = tap.perRequestStream && era === "legacy" && signal ? new AbortController() : undefined;
    const cancel = (): void => {
      if (settle(id) === undefined) return;
      progress?.stop();
      reject(toCancelled(signal?.reason, method, name));
      if (tap.perRequestStream && era === "modern") return;
      // The server may leave the stream open.
      notify("notifications/cancelled", { requestId: id, reason: "The caller cancelled the request." })
        .catch(() => {})
        .finally(() => stream?.abort());
    };
    const progress =
      callerToken === undefined || onNotification === undefined ? undefined : limits.progress(onNotification);
    const release = (): void => signal?.removeEventListener("abort", cancel);
    pending.set(id, {
      method,
      callerToken,
      onNotification,
      progress,
      resolve: (result) => (release(), progress?.flush(), resolve(result)),
      reject: (error) => (release(), progress?.stop(), reject(error)),
    });
    signal?.addEventListener("abort", cancel, { once: true });

    const lost = (error: unknown): void => {
      const entry = settle(id);
      if (entry === undefined) return;
      // The older HTTP transport has the session id in the address for its POSTs.
      const inSession = era === "legacy" && (tap.transport.sessionId !== undefined || !tap.perRequestStream);
      const failure = tap.sharedChannel
        ? notWritten(error, method, name)
        : toFailure(error, { server: name, method, inSession });
      entry.reject(failure);
      if (isSessionExpired(failure) || isUnreachable(failure)) retire(failure);
    };
    const ownStream = tap.perRequestStream && {
      ...(headers && { headers }),
      requestSignal: stream?.signal ?? signal,
      onRequestStreamEnd: () => {
        if (pending.has(id)) lost(new Error("the server ended the stream without an answer"));
      },
    };
    tap.send({ jsonrpc: "2.0", id, method, ...(sent && { params: sent }) }, ownStream || undefined).catch(lost);
    return promise;
  };

  const notify = (method: string, params?: JsonObject): Promise<void> =>
    tap.send({ jsonrpc: "2.0", method, ...(params && { params }) });

  tap.listen({
    answered,
    asked: desk.take,
    told,
    failed: (error) => {
      if (error instanceof MessageTooLong && error.about !== undefined) settle(String(error.about))?.reject(error);
    },
    closed: () => finish(new ArsenalError("TRANSPORT_FAILED", `The MCP server "${name}" ended the connection.`)),
  });

  const connection: McpConnection = {
    era,
    protocolVersion,
    server,
    get open() {
      return ending === undefined;
    },
    request,
    async notify(method, params) {
      if (ending !== undefined) throw notOpen(method, name, ending.error);
      await notify(method, params);
    },
    onNotification(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setAsk: desk.setAsk,
    onClosed(listener) {
      if (ending !== undefined) {
        listener(ending.error);
        return () => {};
      }
      closedListeners.add(listener);
      return () => void closedListeners.delete(listener);
    },
    async close() {
      const wasOpen = ending === undefined;
      finish(undefined);
      if (wasOpen) await farewell?.().catch(() => {});
      await tap.close().catch(() => {});
    },
  };
  return { connection, end };
}

function toCancelled(cause: unknown, method: string, server: string): Error {
  if (isArsenalError(cause)) return cause;
  const message = `${method} on the MCP server "${server}" was cancelled by its caller.`;
  return new ArsenalError("CANCELLED", message, { cause });
}

function notOpen(method: string, server: string, cause: Error | undefined): ArsenalError {
  const message = `${method} was not sent: the connection to the MCP server "${server}" has ended. Open a new one.`;
  return new ArsenalError("TRANSPORT_FAILED", message, { beforeSend: true, cause });
}

/** If sending over a pipe or socket fails, the server has not received the message, because a partial line is not a message. */
function notWritten(error: unknown, method: string, server: string): ArsenalError {
  const reason = messageOf(error);
  const message = `${method} could not be written to the MCP server "${server}": ${reason}. Check that it still runs.`;
  return new ArsenalError("TRANSPORT_FAILED", message, { beforeSend: true, cause: error });
}

const MODERN_KEYS: ReadonlySet<string> = new Set(Object.values(META));

/** Removes members of `_meta` that only the modern era has. With them, a legacy server would treat the request as one of an unknown revision. */
function metaFor(era: Era, meta: unknown): JsonObject | undefined {
  if (!isPlainObject(meta)) return undefined;
  if (era === "modern" || !Object.keys(meta).some((key) => MODERN_KEYS.has(key))) return meta;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !MODERN_KEYS.has(key)));
}
