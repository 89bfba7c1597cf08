import type { Socket } from "node:net";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ClientOptions, WebSocket } from "ws";
import { ArsenalError, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { checkInCall } from "../../../../guard/egress/check-url.ts";
import { createEgress, type Egress } from "../../../../guard/egress/egress.ts";
import { systemClock, type Clock, within } from "../../../../observe/clock.ts";
import { createFloodGate } from "./flood-gate.ts";
import { plainAddress, type WebSocketSettings } from "../settings.ts";
import { deliver, findAnswered, MAX_MESSAGE_BYTES, MessageTooLong, report } from "../../../../mcp/wire-message.ts";

export interface WebSocketOptions {
  readonly egress?: Egress | undefined;
  /** The longest message, in bytes. Longer messages are dropped. A message of more than twice this length ends the connection. Defaults to 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  readonly clock?: Clock | undefined;
}

const SUBPROTOCOL = "mcp";

/** RFC 6455's code for a normal closure. */
const NORMAL = 1000;

/** How many bytes of an overlong response are searched for its id. */
const GLIMPSE_BYTES = 256;

const CLOSE_MS = 2000;

/** Communicates with a server over a WebSocket. Each text frame is one message. */
export function webSocketTransport(settings: WebSocketSettings, options: WebSocketOptions = {}): Transport {
  const { egress = createEgress(), maxMessageBytes = MAX_MESSAGE_BYTES, clock = systemClock } = options;
  const address = plainAddress(settings.url);
  const server = `The MCP server at ${address}`;
  const over = Promise.withResolvers<void>();
  let url: URL | undefined;
  let socket: WebSocket | undefined;
  let leaving = false;
  let isOpen = false;

  async function start(): Promise<void> {
    try {
      // The handshake is sent to an http address.
      await open(new URL(new URL(settings.url).href.replace(/^ws(?=s?:)/, "http")));
    } catch (error) {
      // An error with a fix helps more than this function's message.
      if (isArsenalError(error) && error.details.fix !== undefined) throw error;
      // If the server has several addresses and all failed, only the code has the reason.
      const { message, code } = error as Error & { readonly code?: string };
      const problem = `No WebSocket connection to ${address} could be opened (${message || code}).`;
      throw new ArsenalError("TRANSPORT_FAILED", problem, {
        field: "url",
        value: address,
        beforeSend: true,
        fix: `Check that the server runs there, accepts these headers, and supports the subprotocol "${SUBPROTOCOL}".`,
        cause: error,
      });
    }
  }

  async function open(to: URL): Promise<void> {
    const { WebSocket } = await import("ws");
    if (leaving) throw new Error("it was closed meanwhile");
    const opened = Promise.withResolvers<void>();
    // The package's types lack `closeTimeout`.
    const how: ClientOptions & { readonly closeTimeout: number } = {
      createConnection: () => egress.connect(to, { trusted: true }) as Socket,
      headers: { ...settings.headers },
      perMessageDeflate: false,
      maxPayload: 2 * maxMessageBytes,
      closeTimeout: CLOSE_MS,
    };
    const connection = new WebSocket(to, SUBPROTOCOL, how);
    [url, socket] = [to, connection];
    connection.on("open", () => {
      isOpen = true;
      opened.resolve();
    });
    const gate = createFloodGate(clock);
    connection.on("message", (data, isBinary) => {
      gate.count(receive(data as Buffer, isBinary));
      gate.hold(connection);
    });
    connection.on("error", (error) => {
      opened.reject(error);
      announceEnd(`sent an unreadable message (${error.message}), so the connection was closed`);
    });
    connection.on("close", (code, reason) => {
      over.resolve();
      announceEnd(`closed the connection with code ${code}${reason.length === 0 ? "" : ` (${reason})`}`);
    });
    await opened.promise;
  }

  /** Passes a message on. Returns true if the message is a response. */
  function receive(data: Buffer, isBinary: boolean): boolean {
    if (data.length > maxMessageBytes) {
      const about = findAnswered(data.subarray(0, GLIMPSE_BYTES), data.subarray(-GLIMPSE_BYTES));
      report(transport, new MessageTooLong(server, maxMessageBytes, about));
      return false;
    }
    const message = deliver(transport, isBinary ? "(a binary frame)" : data.toString(), server);
    return message !== undefined && !("method" in message);
  }

  function announceEnd(what = "was left"): void {
    if (!isOpen) return;
    isOpen = false;
    const fix = "Connect again; if it happens again, look at the server's log.";
    if (!leaving) report(transport, new ArsenalError("TRANSPORT_FAILED", `${server} ${what}.`, { fix }));
    transport.onclose?.();
  }

  async function send(message: JSONRPCMessage): Promise<void> {
    if (url === undefined || socket === undefined || socket.readyState !== socket.OPEN)
      throw new ArsenalError("TRANSPORT_FAILED", `${server} is not connected, so nothing was sent to it.`, {
        beforeSend: true,
        fix: "Connect again.",
      });
    checkInCall(url);
    socket.send(JSON.stringify(message));
  }

  async function close(): Promise<void> {
    leaving = true;
    if (socket === undefined) return;
    socket.close(NORMAL);
    await within(CLOSE_MS, over.promise, clock);
    socket.terminate();
    announceEnd();
  }

  const transport: Transport = { start, send, close };
  return transport;
}
