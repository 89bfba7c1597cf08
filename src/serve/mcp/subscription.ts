import { type JsonObject, META, RPC, RpcError, type RpcNotification } from "../../mcp/protocol.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Exchange, Plane } from "./plane.ts";
import type { Leg } from "./modern/suspended-calls.ts";

/** Which member of the filter asks for a notification. */
const FILTER_KEYS: Readonly<Record<string, string>> = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
  "notifications/resources/updated": "resourceSubscriptions",
};

/** A modern client's `subscriptions/listen`, open until either side ends it. */
export interface Subscription extends Leg {
  /** Tells the client that the server ends it. */
  end(): void;
}

/** Opens a subscription: acknowledges it first, then passes on what the plane says, each under the subscription's id. */
export function openSubscription(
  plane: Plane,
  { id, params, peer, notify }: Pick<Exchange, "id" | "params" | "peer" | "notify">,
): Subscription {
  const controller = new AbortController();
  const tag = { [META.subscriptionId]: id };
  const { promise: answer, resolve, reject } = Promise.withResolvers<JsonObject>();
  let early: RpcNotification[] | undefined = [];

  function deliver(notification: RpcNotification): void {
    const { _meta, ...rest } = notification.params ?? {};
    notify({ ...notification, params: { ...rest, _meta: { ...(isPlainObject(_meta) ? _meta : {}), ...tag } } });
  }

  async function open(): Promise<void> {
    const { notifications: filter } = params;
    if (!isPlainObject(filter)) {
      const message = "subscriptions/listen needs notifications, an object that says which ones.";
      throw new RpcError({ code: RPC.invalidParams, message });
    }
    const push = (notification: RpcNotification): void => {
      if (controller.signal.aborted || !wanted(notification, filter)) return;
      if (early === undefined) deliver(notification);
      else early.push(notification);
    };
    const honoured = await plane.listen(filter, push, { peer, signal: controller.signal });
    if (controller.signal.aborted) return;
    deliver({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: honoured },
    });
    for (const notification of early ?? []) deliver(notification);
    early = undefined;
  }

  open().catch((error: unknown) => {
    controller.abort();
    reject(error);
  });

  function stop(): void {
    controller.abort();
    resolve({ resultType: "complete", _meta: tag });
  }
  return { answer, cancel: stop, end: stop };
}

/** A notification that the protocol lets a client choose is sent only where the client chose it. */
function wanted({ method }: RpcNotification, filter: JsonObject): boolean {
  const key = Object.hasOwn(FILTER_KEYS, method) ? FILTER_KEYS[method] : undefined;
  if (key === undefined) return true;
  return filter[key] === true || Array.isArray(filter[key]);
}
