import type { Ask } from "../../src/mcp/connection.ts";
import { type JsonObject, RPC, RpcError, type RpcNotification } from "../../src/mcp/protocol.ts";
import { ArsenalError } from "../../src/errors/arsenal-error.ts";
import type { Exchange, Peer, Plane, PlaneSession, Push } from "../../src/serve/mcp/plane.ts";

/** What a tool of the sample plane does. */
export type SampleTool = (args: JsonObject, exchange: Exchange) => Promise<JsonObject>;

/** A plane with a handful of tools, and a view of what reached it. */
export interface SamplePlane extends Plane {
  /** Requests as they came, oldest first. */
  readonly exchanges: Exchange[];
  readonly notifications: RpcNotification[];
  /** What sessions set: log levels and subscriptions. */
  readonly settings: (readonly [method: string, params: JsonObject])[];
  /** Sessions that are open. */
  readonly sessions: { readonly peer: Peer; readonly push: Push; readonly ask: Ask }[];
  /** Filters of the subscriptions that are open. */
  readonly filters: JsonObject[];
  /** Tells everyone who listens. */
  pushAll(notification: RpcNotification): void;
  /** Lets every `wait` go on. */
  release(): void;
}

/** The text of a result, as a tool's answer. */
export function text(value: string): JsonObject {
  return { content: [{ type: "text", text: value }] };
}

/** A question for a name. */
export const ASK_NAME: JsonObject = {
  mode: "form",
  message: "Who are you?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
};

function note(method: string, params: JsonObject): RpcNotification {
  return { jsonrpc: "2.0", method, params };
}

const SETTINGS: ReadonlySet<string> = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/** A plane for tests of the protocol. */
export function createSamplePlane(more: Readonly<Record<string, SampleTool>> = {}): SamplePlane {
  const exchanges: Exchange[] = [];
  const notifications: RpcNotification[] = [];
  const settings: (readonly [method: string, params: JsonObject])[] = [];
  const sessions: { readonly peer: Peer; readonly push: Push; readonly ask: Ask }[] = [];
  const filters: JsonObject[] = [];
  const listeners = new Set<Push>();
  const waiting = new Set<() => void>();

  const tools: Readonly<Record<string, SampleTool>> = {
    echo: async (args) => text(String(args["text"])),
    wait: (_args, { signal }) =>
      new Promise((resolve, reject) => {
        waiting.add(() => resolve(text("waited")));
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
    progress: async (_args, { params, notify }) => {
      const { progressToken } = params["_meta"] as JsonObject;
      for (const progress of [1, 2]) notify(note("notifications/progress", { progressToken, progress, total: 2 }));
      return text("done");
    },
    log: async (_args, { notify }) => {
      for (const level of ["debug", "error"]) notify(note("notifications/message", { level, data: level }));
      return text("logged");
    },
    greet: async (_args, { ask, signal }) => {
      const { content } = await ask("elicitation/create", ASK_NAME, { signal });
      return text(`Hello ${String((content as JsonObject)["name"])}`);
    },
    fail: async () => {
      throw new Error("cannot read /home/someone/secret");
    },
    deny: async () => {
      throw new ArsenalError("PERMISSION_DENIED", "The call needs the scope mail.send.");
    },
    ...more,
  };

  async function handle(exchange: Exchange): Promise<JsonObject> {
    exchanges.push(exchange);
    const { method, params } = exchange;
    if (method === "tools/list")
      return { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) };
    if (method === "resources/read")
      throw new RpcError({ code: RPC.resourceNotFound, message: "Resource not found", data: { uri: params["uri"] } });
    if (SETTINGS.has(method)) return (settings.push([method, params]), {});
    if (method !== "tools/call")
      throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
    const tool = tools[String(params["name"])];
    if (tool === undefined) throw new RpcError({ code: RPC.invalidParams, message: "No such tool" });
    return tool((params["arguments"] ?? {}) as JsonObject, exchange);
  }

  const describe: PlaneSession["describe"] = async () => ({
    info: { name: "sample", version: "1.2.3" },
    capabilities: { tools: { listChanged: true }, logging: {} },
    instructions: "Be kind.",
  });

  return {
    name: "sample",
    exchanges,
    notifications,
    settings,
    sessions,
    filters,
    async openSession(peer, channel) {
      const session = { peer, ...channel };
      sessions.push(session);
      listeners.add(channel.push);
      return {
        describe,
        handle,
        notified: (notification) => void notifications.push(notification),
        async close() {
          sessions.splice(sessions.indexOf(session), 1);
          listeners.delete(channel.push);
        },
      };
    },
    shared: { describe, handle, notified: () => undefined, close: async () => undefined },
    async listen(filter, push, { signal }) {
      filters.push(filter);
      listeners.add(push);
      signal.addEventListener("abort", () => {
        listeners.delete(push);
        filters.splice(filters.indexOf(filter), 1);
      });
      const { toolsListChanged } = filter;
      return toolsListChanged === true ? { toolsListChanged } : {};
    },
    close: async () => undefined,
    pushAll(notification) {
      for (const push of listeners) push(notification);
    },
    release() {
      for (const go of waiting) go();
      waiting.clear();
    },
  };
}
