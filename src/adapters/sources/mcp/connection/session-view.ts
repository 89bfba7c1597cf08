import { createOpenSet } from "../../../../base/open-entries.ts";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { ClientIdentity, McpConnection } from "../../../../mcp/connection.ts";
import { type JsonObject, META } from "../../../../mcp/protocol.ts";

/**
 * Creates one client's view of a shared connection to a modern server. Every request carries the client's identity. Closing the view leaves the
 * connection open.
 */
export function createSessionView(shared: McpConnection, client: ClientIdentity): McpConnection {
  const over = new AbortController();
  const requests = createOpenSet<AbortController>();
  const refuseIfClosed = (): void => {
    if (!over.signal.aborted) return;
    throw new ArsenalError("TRANSPORT_FAILED", "The session was closed. Open a new one.", { beforeSend: true });
  };
  /** Ends a subscription when the view closes, unless the returned function is called first. */
  const withView = (stop: () => void, closed: () => void = stop): (() => void) => {
    over.signal.addEventListener("abort", closed, { once: true });
    return () => {
      stop();
      over.signal.removeEventListener("abort", closed);
    };
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
      const { signal } = options;
      const either = new AbortController();
      const cancel = (): void => either.abort(signal?.reason);
      if (signal?.aborted) cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      const leave = requests.add(either);
      try {
        return await shared.request(method, withIdentity(params, client), { ...options, signal: either.signal });
      } finally {
        leave();
        signal?.removeEventListener("abort", cancel);
      }
    },
    async notify(method, params) {
      refuseIfClosed();
      await shared.notify(method, params);
    },
    onNotification: (listener) => withView(shared.onNotification(listener)),
    // A modern server sends questions in results, not in requests.
    setAsk: () => {},
    onClosed(listener) {
      const stop = shared.onClosed(listener);
      return withView(stop, () => {
        stop();
        listener(undefined);
      });
    },
    async close() {
      const reason = new ArsenalError("CANCELLED", "The session was closed.");
      over.abort(reason);
      for (const request of requests.values()) request.abort(reason);
    },
  };
}

/** Adds the sender's identity to the parameters of a modern request, unless they already have one. */
export function withIdentity(params: JsonObject | undefined, { info, capabilities }: ClientIdentity): JsonObject {
  const given = params?.["_meta"];
  const own = { [META.clientInfo]: info, [META.clientCapabilities]: capabilities };
  return { ...params, _meta: isPlainObject(given) ? { ...own, ...given } : own };
}

/** Returns the identity of a modern request's client, without members that concern only the request. */
export function identityIn({ _meta }: JsonObject): JsonObject {
  const kept = [META.protocolVersion, META.clientInfo, META.clientCapabilities] as const;
  const given = isPlainObject(_meta) ? _meta : {};
  return Object.fromEntries(kept.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])));
}
