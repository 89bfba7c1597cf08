import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";

/** The longest message taken from a server, in bytes, where nothing else is said. */
export const MAX_MESSAGE_BYTES: number = 64 * 1024 * 1024;

/** Reads one JSON-RPC message; undefined where the text is none. What is inside is for the reader of the message to judge. */
export function parseMessage(text: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for what looks like a JSON-RPC message. */
export function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

/** Says that a server wrote something that is no message, and that it was skipped. */
export function notAMessage(server: string, text: string): ArsenalError {
  return new ArsenalError(
    "PROTOCOL_ERROR",
    `${server} sent something that is no JSON-RPC message; it was skipped: ${showValue(text.slice(0, 400), 200)}.`,
    { fix: "Make the server write its log messages to stderr." },
  );
}

/** Says that a server's message was too long, and that it was thrown away. */
export function messageTooLong(server: string, maxBytes: number): ArsenalError {
  return new ArsenalError(
    "PROTOCOL_ERROR",
    `${server} sent a message of more than ${maxBytes} bytes; it was thrown away.`,
    { fix: "Ask the tool for less at a time: a filter, a page, a smaller file." },
  );
}
