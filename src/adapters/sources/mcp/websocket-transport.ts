import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { systemClock, type Clock } from "../../../observe/clock.ts";
import type { WebSocketSettings } from "./settings.ts";
import { MAX_MESSAGE_BYTES, messageTooLong, notAMessage, parseMessage } from "./wire-message.ts";
import { within } from "./within.ts";

/** How a WebSocket server is listened to and left. */
export interface WebSocketOptions {
  /** The longest message, in bytes. Longer ones are thrown away. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  readonly clock?: Clock;
}

const SUBPROTOCOL = "mcp";

/** How long the server may take to answer our goodbye. */
const CLOSE_MS = 2000;

/** Talks to a server over a WebSocket, one message a text frame. */
export function webSocketTransport(settings: WebSocketSettings, options: WebSocketOptions = {}): Transport {
  const { maxMessageBytes = MAX_MESSAGE_BYTES, clock = systemClock } = options;
  const address = addressOf(settings.url);
  const server = `The MCP server at ${address}`;
  let socket: WebSocket | undefined;
  let closed: Promise<void> = Promise.resolve();
  let closeAsked = false;
  let isOpen = false;

  async function start(): Promise<void> {
    if (socket !== undefined || closeAsked)
      throw new ArsenalError("TRANSPORT_FAILED", `${server} was connected to before: a transport is used once.`, {
        fix: "Make another transport for another connection.",
      });
    const opening = (socket = open());
    await new Promise<void>((resolve, reject) => {
      let reason = "";
      closed = new Promise((over) => {
        opening.addEventListener("close", (event) => {
          over();
          // Nothing happens here to a connection that was opened.
          reject(connectFailure(reason || event.reason));
        });
      });
      opening.addEventListener("error", (event) => {
        reason = event.message;
      });
      opening.addEventListener("open", () => {
        listen(opening);
        resolve();
      });
    });
  }

  function open(): WebSocket {
    try {
      return new WebSocket(settings.url, { protocols: [SUBPROTOCOL], headers: { ...settings.headers } });
    } catch (cause) {
      throw connectFailure(cause instanceof Error ? cause.message : String(cause), cause);
    }
  }

  function connectFailure(reason: string, cause?: unknown): ArsenalError {
    return new ArsenalError(
      "TRANSPORT_FAILED",
      `No WebSocket connection to ${address} could be opened${reason === "" ? "" : ` (${reason})`}.`,
      {
        field: "url",
        value: address,
        beforeSend: true,
        fix: `Check that the server runs there, takes these headers, and speaks the subprotocol "${SUBPROTOCOL}".`,
        cause,
      },
    );
  }

  function listen(opened: WebSocket): void {
    isOpen = true;
    opened.addEventListener("message", ({ data }) => receive(data));
    opened.addEventListener("close", announceEnd);
  }

  function receive(data: unknown): void {
    if (typeof data !== "string") return report(notAMessage(server, "(a binary frame)"));
    if (isLonger(data, maxMessageBytes)) return report(messageTooLong(server, maxMessageBytes));
    const message = parseMessage(data);
    if (message === undefined) return report(notAMessage(server, data));
    try {
      transport.onmessage?.(message);
    } catch (error) {
      report(error);
    }
  }

  function report(error: unknown): void {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }

  function announceEnd(event?: CloseEvent): void {
    if (!isOpen) return;
    isOpen = false;
    if (!closeAsked && event !== undefined) report(ended(event));
    transport.onclose?.();
  }

  function ended({ code, reason }: CloseEvent): ArsenalError {
    const said = reason === "" ? "" : ` (${reason})`;
    return new ArsenalError("TRANSPORT_FAILED", `${server} closed the connection with code ${code}${said}.`, {
      fix: "Connect again; if it happens again, look at the server's log.",
    });
  }

  async function send(message: JSONRPCMessage): Promise<void> {
    if (socket?.readyState !== WebSocket.OPEN)
      throw new ArsenalError("TRANSPORT_FAILED", `${server} is not connected, so nothing was sent to it.`, {
        beforeSend: true,
        fix: "Connect again.",
      });
    socket.send(JSON.stringify(message));
  }

  async function close(): Promise<void> {
    closeAsked = true;
    if (socket === undefined) return;
    socket.close(socket.readyState === WebSocket.OPEN ? 1000 : undefined);
    await within(CLOSE_MS, closed, clock);
    announceEnd();
  }

  const transport: Transport = { start, send, close };
  return transport;
}

/** The address without what may be secret in it. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Counts bytes only where the number of characters does not decide. */
function isLonger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}
