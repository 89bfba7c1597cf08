import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { ClientIdentity, McpConnection } from "../../../../mcp/connection.ts";
import { type JsonObject, META } from "../../../../mcp/protocol.ts";

/**
 * One client's own view of a connection to a modern server, which keeps nothing between requests: every request says who that client is.
 * Closing the view leaves the connection open.
 */
export function createSessionView(shared: McpConnection, client: ClientIdentity): McpConnection {
  const over = new AbortController();
  const endings = new Set<() => void>();

  const refuseIfClosed = (): void => {
    if (!over.signal.aborted) return;
    throw new ArsenalError("TRANSPORT_FAILED", "The session was closed. Open a new one.", { beforeSend: true });
  };
  const withEnding = (end: () => void): (() => void) => {
    const ended = (): void => {
      endings.delete(ended);
      end();
    };
    endings.add(ended);
    return ended;
  };

  return {
    era: shared.era,
    protocolVersion: shared.protocolVersion,
    server: shared.server,
    get open() {
      return shared.open && !over.signal.aborted;
    },
    async request(method, params, options = {}) {
      refuseIfClosed();
      const signal = options.signal === undefined ? over.signal : AbortSignal.any([over.signal, options.signal]);
      return shared.request(method, withIdentity(params, client), { ...options, signal });
    },
    async notify(method, params) {
      refuseIfClosed();
      await shared.notify(method, params);
    },
    onNotification: (listener) => withEnding(shared.onNotification(listener)),
    // A modern server asks with results, not with requests.
    setAsk: () => {},
    onClosed(listener) {
      const stop = shared.onClosed(listener);
      const closed = (): void => {
        stop();
        listener(undefined);
      };
      over.signal.addEventListener("abort", closed, { once: true });
      return () => {
        stop();
        over.signal.removeEventListener("abort", closed);
      };
    },
    async close() {
      over.abort(new ArsenalError("CANCELLED", "The session was closed."));
      for (const end of endings) end();
    },
  };
}

/** A modern request's parameters with who sends it, where they do not say so themselves. */
export function withIdentity(params: JsonObject | undefined, { info, capabilities }: ClientIdentity): JsonObject {
  const given = params?.["_meta"];
  const meta = {
    [META.clientInfo]: info,
    [META.clientCapabilities]: capabilities,
    ...(isPlainObject(given) ? given : {}),
  };
  return { ...params, _meta: meta };
}
