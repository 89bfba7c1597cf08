import { createOpenMap } from "../../../base/open-entries.ts";
import type { McpConnection } from "../../../mcp/connection.ts";
import { LATEST_VERSION, type RpcNotification } from "../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Exchange, Peer, Plane } from "../plane.ts";

export type OwnConnection = Awaited<ReturnType<typeof createOwnConnection>>;

/** Opens a connection to an upstream with the client's name and capabilities. */
export async function createOwnConnection(
  upstream: McpUpstream,
  peer: Peer,
  channel: Parameters<Plane["openSession"]>[1],
) {
  /** Open requests, the latest last. */
  const running = createOpenMap<number, Exchange>();
  let count = 0;
  let current: Promise<McpConnection> | undefined;
  let closed = false;

  async function open(signal?: AbortSignal): Promise<McpConnection> {
    const { info = { name: "unknown", version: LATEST_VERSION.legacy }, capabilities, principal: caller } = peer;
    const connection = await upstream.openSession({ info, capabilities }, { caller, ...(signal && { signal }) });
    connection.setAsk((method, params, options) => {
      // A client without an open stream still reads the stream of its latest request.
      const { ask } = running.values().at(-1) ?? channel;
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

  function get(signal: AbortSignal | undefined): Promise<McpConnection> {
    if (current === undefined && !closed) {
      opened = current = open(signal);
      opened.catch(() => {
        if (current === opened) current = undefined;
      });
    }
    return current ?? opened;
  }

  return {
    /** `modern` if the server has no sessions and the connection is the shared one. */
    era,
    server,
    /** Sends a request over the connection. A connection that has ended is reopened first. */
    request: (async (method, params, options) =>
      await (await get(options?.signal)).request(method, params, options)) satisfies McpConnection["request"],
    /** Runs a request. Until it ends, the server's questions go to the stream of that request. */
    async during<Result>(exchange: Exchange, run: () => Promise<Result>): Promise<Result> {
      const key = ++count;
      running.set(key, exchange);
      try {
        return await run();
      } finally {
        running.take(key);
      }
    },
    notify({ method, params }: RpcNotification): void {
      void current?.then((connection) => connection.notify(method, params)).catch(() => {});
    },
    async close(): Promise<void> {
      closed = true;
      await opened.then((connection) => connection.close()).catch(() => {});
    },
  };
}
