import type { Clock } from "../../../../observe/clock.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { keepListening } from "./follow-changes.ts";
import type { RpcNotification } from "../../../../mcp/protocol.ts";
import { untilAborted } from "../../../../catalog/dense/until-aborted.ts";

/** Which resources a server tells about, for all who want to know. */
export interface ResourceSubscriptions {
  /** Resolves when the server tells of the resource's changes; it does so until the signal fires. */
  subscribe(uri: string, connection: McpConnection, signal: AbortSignal): Promise<void>;
  /** Makes every subscription again, on the connection that took the place of the one before. */
  renew(connection: McpConnection): void;
}

interface Subscription {
  subscribers: number;
  made: Promise<void>;
  /** Fires when nobody wants to know any more, or the subscription is made again elsewhere. */
  over: AbortController;
}

/** Subscriptions that tell with `told`. */
export function createResourceSubscriptions(
  clock: Clock,
  told: (notification: RpcNotification) => void,
): ResourceSubscriptions {
  const subscriptions = new Map<string, Subscription>();

  const make = (uri: string, connection: McpConnection, { signal }: AbortController): Promise<void> => {
    if (connection.era === "legacy") return subscribeLegacy(uri, connection, signal);
    return new Promise((resolve, reject) => {
      connection.onClosed((reason) => reject(reason ?? new Error("the connection was closed")));
      const filter = { resourceSubscriptions: [uri] };
      const acknowledged = (again: boolean): void => {
        resolve();
        if (again) told({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
      };
      keepListening(connection, clock, { filter, signal, onNotification: told, acknowledged, refused: reject });
    });
  };

  const leave = (uri: string, subscription: Subscription): void => {
    if (--subscription.subscribers > 0) return;
    if (subscriptions.get(uri) === subscription) subscriptions.delete(uri);
    subscription.over.abort();
  };

  return {
    async subscribe(uri, connection, signal) {
      signal.throwIfAborted();
      let subscription = subscriptions.get(uri);
      if (subscription === undefined) {
        const over = new AbortController();
        subscription = { subscribers: 0, made: make(uri, connection, over), over };
        subscriptions.set(uri, subscription);
      }
      const joined = subscription;
      joined.subscribers++;
      signal.addEventListener("abort", () => leave(uri, joined), { once: true });
      try {
        await untilAborted(joined.made, signal);
      } catch (error) {
        if (subscriptions.get(uri) === joined) subscriptions.delete(uri);
        throw error;
      }
    },
    renew(connection) {
      for (const [uri, subscription] of subscriptions) {
        subscription.over = new AbortController();
        subscription.made = make(uri, connection, subscription.over);
        // A resource that is gone since is not told about; its subscribers read it and see.
        subscription.made.catch(() => {});
        told({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
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
