import type { Clock } from "../../../../observe/clock.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { type JsonObject, RpcError, type RpcNotification } from "../../../../mcp/protocol.ts";
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

/** Receives changes. */
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
      .filter(
        ([capability]) => isPlainObject(capabilities[capability]) && capabilities[capability]["listChanged"] === true,
      )
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

/** Which changes to listen for, and who receives them. */
export interface Listening {
  /** The notifications that the server is asked for. */
  readonly filter: JsonObject;
  readonly onNotification: (notification: RpcNotification) => void;
  /** The server tells from here on. `again` where it told before and the stream broke: what happened meanwhile was told to nobody. */
  readonly acknowledged: (again: boolean) => void;
  /** The server does not tell, and will not be asked again. */
  readonly refused: (error: RpcError) => void;
  /** Ends it. It ends with the connection, too. */
  readonly signal: AbortSignal;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Keeps a modern server's notification stream open: it is opened again whenever it ends, after pauses that grow. */
export function keepListening(connection: McpConnection, clock: Clock, listening: Listening): void {
  const { filter, acknowledged, refused, signal } = listening;
  let failures = 0;
  let opened = false;
  const isOver = (): boolean => signal.aborted || !connection.open;

  const onNotification = (notification: RpcNotification): void => {
    if (notification.method !== "notifications/subscriptions/acknowledged")
      return listening.onNotification(notification);
    failures = 0;
    acknowledged(opened);
    opened = true;
  };

  const listen = async (): Promise<void> => {
    if (isOver()) return;
    try {
      await connection.request("subscriptions/listen", { notifications: filter }, { onNotification, signal });
    } catch (error) {
      if (error instanceof RpcError) return refused(error);
    }
    if (isOver()) return;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures++);
    clock.after(pause, () => void listen(), { background: true });
  };
  void listen();
}
