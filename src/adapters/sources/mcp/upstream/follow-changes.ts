import type { Clock } from "../../../../observe/clock.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { keepListening } from "./listen.ts";
import type { JsonObject, RpcNotification } from "../../../../mcp/protocol.ts";
import type { Listing } from "./upstream.ts";

/** Which lists a notification says may have changed. */
const CHANGED: Readonly<Record<string, readonly Listing[]>> = {
  "notifications/tools/list_changed": ["tools"],
  "notifications/prompts/list_changed": ["prompts"],
  "notifications/resources/list_changed": ["resources", "resourceTemplates"],
};

/** What a modern server is asked to tell, by the capability that says it can. */
const FILTERS = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** Who is told of changes. */
export interface ChangeListener {
  readonly listed: (listing: Listing) => void;
  readonly other: (notification: RpcNotification) => void;
}

/**
 * Follows what a server says outside requests, while the connection lasts. An old server tells by itself; a modern one is asked to, with a
 * stream that is opened again when it ends.
 */
export function followChanges(connection: McpConnection, clock: Clock, { listed, other }: ChangeListener): void {
  const take = (notification: RpcNotification): void => {
    const changed = CHANGED[notification.method];
    if (changed === undefined) other(notification);
    else for (const listing of changed) listed(listing);
  };
  connection.onNotification(take);
  if (connection.era === "legacy") return;

  const { capabilities } = connection.server;
  const filter = Object.fromEntries(
    Object.entries(FILTERS)
      .filter(([capability]) => tellsOfChanges(capabilities, capability))
      .map(([, key]) => [key, true]),
  );
  if (Object.keys(filter).length === 0) return;

  keepListening(connection, clock, {
    filter,
    signal: new AbortController().signal,
    onNotification: take,
    acknowledged(again) {
      if (again) for (const listing of Object.values(CHANGED).flat()) listed(listing);
    },
    refused: () => {},
  });
}

function tellsOfChanges(capabilities: JsonObject, capability: string): boolean {
  const given = capabilities[capability];
  return isPlainObject(given) && given["listChanged"] === true;
}
