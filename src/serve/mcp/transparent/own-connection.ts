import type { McpConnection, ServerDescription } from "../../../mcp/connection.ts";
import { type Era, LATEST_VERSION, type RpcNotification } from "../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Exchange, Peer, Plane } from "../plane.ts";

/** The connection of one client's session alone. */
export interface OwnConnection {
  /** `modern` where the server has no sessions and the connection is the one that everybody shares. */
  readonly era: Era;
  readonly server: ServerDescription;
  /** Sends a request over the connection, which is opened again first if it has ended. */
  readonly request: McpConnection["request"];
  /** Runs a request while the server's questions go to that request's own stream. */
  during<Result>(exchange: Exchange, run: () => Promise<Result>): Promise<Result>;
  notify(notification: RpcNotification): void;
  close(): Promise<void>;
}

/** Opens a connection to an upstream in a client's name: what the client can be asked, the server may ask. */
export async function createOwnConnection(
  upstream: McpUpstream,
  peer: Peer,
  channel: Parameters<Plane["openSession"]>[1],
): Promise<OwnConnection> {
  /** Requests under way, the latest last. */
  const running = new Set<Exchange>();
  let current: Promise<McpConnection> | undefined;
  let closed = false;

  async function open(signal?: AbortSignal): Promise<McpConnection> {
    const identity = {
      info: peer.info ?? { name: "unknown", version: LATEST_VERSION.legacy },
      capabilities: peer.capabilities,
    };
    const caller = peer.principal;
    const connection = await upstream.openSession(identity, signal === undefined ? { caller } : { caller, signal });
    connection.setAsk((method, params, options) => {
      // A client that keeps no stream open of its own still reads that of its latest request.
      const { ask } = [...running].at(-1) ?? channel;
      return ask(method, params, options);
    });
    connection.onNotification(channel.push);
    connection.onClosed(() => {
      if (current === opened) current = undefined;
    });
    return connection;
  }

  let opened: Promise<McpConnection> = (current = open());
  const { era, server } = await opened;

  async function get(signal: AbortSignal | undefined): Promise<McpConnection> {
    if (current === undefined && !closed) {
      opened = current = open(signal);
      opened.catch(() => {
        if (current === opened) current = undefined;
      });
    }
    return current ?? opened;
  }

  return {
    era,
    server,
    request: async (method, params, options) => (await get(options?.signal)).request(method, params, options),
    async during(exchange, run) {
      running.add(exchange);
      try {
        return await run();
      } finally {
        running.delete(exchange);
      }
    },
    notify({ method, params }) {
      void current?.then((connection) => connection.notify(method, params)).catch(() => {});
    },
    async close() {
      closed = true;
      await opened.then((connection) => connection.close()).catch(() => {});
    },
  };
}
