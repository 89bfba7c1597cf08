import type { Clock } from "../../../../observe/clock.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { keepListening } from "./follow-changes.ts";
import type { RpcNotification } from "../../../../mcp/protocol.ts";
import { untilAborted } from "../../../../base/turns/until-aborted.ts";

interface Subscription {
  subscribers: number;
  made: Promise<void>;
  /** Fires when the last subscriber leaves, or when the subscription moves to another connection. */
  over: AbortController;
}

/** Subscribes once to each resource for all its subscribers, and passes the server's notifications to `notify`. */
export function createResourceSubscriptions(clock: Clock, notify: (notification: RpcNotification) => void) {
  const subscriptions = new Map<string, Subscription>();
  const tellUpdated = (uri: string): void =>
    notify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });

  const make = (uri: string, connection: McpConnection, { signal }: AbortController): Promise<void> => {
    if (connection.era === "legacy") return subscribeLegacy(uri, connection, signal);
    return new Promise((resolve, reject) => {
      connection.onClosed((reason) => reject(reason ?? new Error("the connection was closed")));
      const filter = { resourceSubscriptions: [uri] };
      const acknowledged = (again: boolean): void => {
        resolve();
        if (again) tellUpdated(uri);
      };
      keepListening(connection, clock, { filter, signal, onNotification: notify, acknowledged, refused: reject });
    });
  };

  const forget = (uri: string, subscription: Subscription): void => {
    if (subscriptions.get(uri) === subscription) subscriptions.delete(uri);
  };

  return {
    /** Resolves when the server has accepted the subscription, which lasts until the signal fires. */
    async subscribe(uri: string, connection: McpConnection, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      let subscription = subscriptions.get(uri);
      if (subscription === undefined) {
        const over = new AbortController();
        subscription = { subscribers: 0, made: make(uri, connection, over), over };
        subscriptions.set(uri, subscription);
      }
      const joined = subscription;
      const leave = (): void => {
        if (--joined.subscribers > 0) return;
        forget(uri, joined);
        joined.over.abort();
      };
      joined.subscribers++;
      signal.addEventListener("abort", leave, { once: true });
      try {
        await untilAborted(joined.made, signal);
      } catch (error) {
        forget(uri, joined);
        throw error;
      }
    },
    /** Renews every subscription on a new connection. */
    renew(connection: McpConnection): void {
      for (const [uri, subscription] of subscriptions) {
        subscription.over = new AbortController();
        subscription.made = make(uri, connection, subscription.over);
        // The server does not announce a deleted resource. Subscribers notice when they read it.
        subscription.made.catch(() => {});
        tellUpdated(uri);
      }
    },
  };
}

async function subscribeLegacy(uri: string, connection: McpConnection, signal: AbortSignal): Promise<void> {
  await connection.request("resources/subscribe", { uri });
  const unsubscribe = (): void => {
    if (connection.open) connection.request("resources/unsubscribe", { uri }).catch(() => {});
  };
  if (signal.aborted) unsubscribe();
  else signal.addEventListener("abort", unsubscribe, { once: true });
}
