import { type JsonObject, META, RPC, RpcError, type RpcNotification } from "../../mcp/protocol.ts";
import type { Listing } from "../../adapters/sources/mcp/upstream/upstream.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Exchange, Plane } from "./plane.ts";
import type { Leg } from "./modern/suspended-calls.ts";

/** The lists whose changes are announced to clients, with the member of a filter for each. */
const LIST_FILTERS = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** Maximum number of notifications that are kept until a subscription is acknowledged. */
const MAX_EARLY = 1000;

export type ServedList = keyof typeof LIST_FILTERS;

export const SERVED_LISTS = Object.keys(LIST_FILTERS) as readonly ServedList[];

/** The member of a filter for each notification. */
const FILTER_KEYS: ReadonlyMap<string, string> = new Map([
  ["notifications/resources/updated", "resourceSubscriptions"],
  ...SERVED_LISTS.map((list) => [listChanged(list).method, LIST_FILTERS[list]] as const),
]);

/** Returns the client's list that contains an upstream's list. Templates count as resources. */
export function listOf(listing: Listing): ServedList {
  return listing === "resourceTemplates" ? "resources" : listing;
}

export function listChanged(list: ServedList): RpcNotification {
  return { jsonrpc: "2.0", method: `notifications/${list}/list_changed` };
}

/** Reads a modern client's filter: changes of lists, and of the resources with these URIs. */
export function readFilter({ resourceSubscriptions: uris, ...lists }: JsonObject) {
  return {
    lists: SERVED_LISTS.filter((list) => lists[LIST_FILTERS[list]] === true),
    uris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [],
  };
}

export function toFilter(lists: readonly ServedList[], uris: readonly string[]): JsonObject {
  return {
    ...Object.fromEntries(lists.map((list) => [LIST_FILTERS[list], true])),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
  };
}

/** Opens a modern client's subscription: acknowledges it, then passes on the plane's notifications with the subscription's id. */
export function openSubscription(
  plane: Plane,
  { id, params, peer, notify }: Pick<Exchange, "id" | "params" | "peer" | "notify">,
): Leg {
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
      const message = "subscriptions/listen needs notifications, an object that selects them.";
      throw new RpcError({ code: RPC.invalidParams, message });
    }
    const push = (notification: RpcNotification): void => {
      if (controller.signal.aborted || !isIncluded(notification, filter)) return;
      if (early === undefined) deliver(notification);
      else if (early.length < MAX_EARLY) early.push(notification);
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

  return {
    answer,
    cancel() {
      controller.abort();
      resolve({ resultType: "complete", _meta: tag });
    },
  };
}

function isIncluded({ method }: RpcNotification, filter: JsonObject): boolean {
  const key = FILTER_KEYS.get(method);
  return key === undefined || filter[key] === true || Array.isArray(filter[key]);
}
