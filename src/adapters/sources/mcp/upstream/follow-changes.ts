import type { Clock } from "../../../../observe/clock.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { backoffMs } from "../../../../base/turns/backoff.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { type JsonObject, RpcError, type RpcNotification } from "../../../../mcp/protocol.ts";
import type { Listing } from "./upstream.ts";

/** Lists that belong to each capability. One announcement covers all lists of a capability. */
const LISTED: Readonly<Record<string, readonly Listing[]>> = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "resourceTemplates"],
};

/** Follows a server's notifications outside requests while the connection lasts. A modern server announces changes only to subscribers. */
export function followChanges(
  connection: McpConnection,
  clock: Clock,
  listed: (listing: Listing) => void,
  other: (notification: RpcNotification) => void,
): void {
  const take = (notification: RpcNotification): void => {
    const [, capability = ""] =
      /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(notification.method) ?? [];
    const changed = LISTED[capability];
    if (changed === undefined) other(notification);
    else for (const listing of changed) listed(listing);
  };
  connection.onNotification(take);
  if (connection.era === "legacy") return;

  const announcesChanges = (capability: unknown): boolean =>
    isPlainObject(capability) && capability["listChanged"] === true;
  const announced = Object.keys(LISTED).filter((capability) =>
    announcesChanges(connection.server.capabilities[capability]),
  );
  if (announced.length === 0) return;
  keepListening(connection, clock, {
    filter: Object.fromEntries(announced.map((capability) => [`${capability}ListChanged`, true])),
    signal: new AbortController().signal,
    onNotification: take,
    acknowledged(again) {
      if (again) for (const listing of Object.values(LISTED).flat()) listed(listing);
    },
    refused: () => {},
  });
}

interface ListenOptions {
  readonly filter: JsonObject;
  readonly onNotification: (notification: RpcNotification) => void;
  /** Called when the server starts to send notifications. `again` means that a broken stream was reopened, so changes may have been missed. */
  readonly acknowledged: (again: boolean) => void;
  /** Called when the server refuses the subscription. It is not retried. */
  readonly refused: (error: RpcError) => void;
  /** Ends the stream. The end of the connection also ends it. */
  readonly signal: AbortSignal;
}

const BACKOFF = { firstMs: 1000, longestMs: 60_000 };

/** Keeps the notification stream of a modern server open. Reopens it whenever it ends, after growing pauses. */
export function keepListening(connection: McpConnection, clock: Clock, listening: ListenOptions): void {
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
    clock.after(backoffMs(failures++, BACKOFF), () => void listen(), { background: true });
  };
  void listen();
}
