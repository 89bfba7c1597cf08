import { createOpenSet } from "../../base/open-entries.ts";
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Tracks the work of a server, so that the server can close without waiting for callers that keep an idle connection. */
export function createOpenWork(server: Server) {
  const sockets = new Set<Socket>();
  const responses = createOpenSet<ServerResponse>();
  let closed: Promise<void> | undefined;

  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  /** Destroys idle connections. Node's `closeIdleConnections` skips connections that have not sent a request yet. */
  function destroyIdle(): void {
    const busy = new Set(responses.values().map(({ socket }) => callerOf(socket)));
    for (const socket of sockets) if (!busy.has(callerOf(socket))) socket.destroy();
  }

  /** Identifies the client of a connection by its address, because over TLS a response has a different socket object than its connection. */
  function callerOf(socket: Socket | null): string {
    return `${socket?.remoteAddress} ${socket?.remotePort}`;
  }

  async function close(graceMs: number): Promise<void> {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const response of responses.values()) {
      // A response that has sent its headers but has not ended is a stream.
      if (response.headersSent) response.end();
      else response.shouldKeepAlive = false;
    }
    destroyIdle();
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    await ended;
    clearTimeout(timer);
  }

  return {
    /** Counts an answer as in progress until it is finished or its caller has disconnected. */
    add(response: ServerResponse): void {
      const end = responses.add(response);
      response.once("close", () => {
        end();
        if (closed !== undefined) destroyIdle();
      });
    },
    get closing(): boolean {
      return closed !== undefined;
    },
    /** Stops listening, ends the streams, waits up to `graceMs` for open requests, and resolves when every connection is closed. */
    close: (graceMs: number): Promise<void> => (closed ??= close(graceMs)),
  };
}
