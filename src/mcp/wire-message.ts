import type { JSONRPCMessage, MessageExtraInfo, Transport } from "@modelcontextprotocol/client";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { countKeys } from "../base/json/json-text.ts";
import type { RequestId } from "./protocol.ts";

/** Default for the maximum length of a server's message, in bytes. A larger result would be withheld anyway. */
export const MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024;

/** Passes a message to the listener of a transport and returns it. Text that is not a message is reported, and undefined is returned. */
export function deliver(
  transport: Transport,
  text: string,
  server: string,
  info?: MessageExtraInfo,
): JSONRPCMessage | undefined {
  const isTooLarge = hasTooMuch(text);
  const message = isTooLarge ? undefined : parseMessage(text);
  try {
    if (isTooLarge) throw tooMuch(server, text);
    if (message === undefined) throw notAMessage(server, text);
    transport.onmessage?.(message, info);
  } catch (error) {
    report(transport, error);
  }
  return message;
}

/**
 * Maximum number of members and elements in one message. A list of 100,000 tools, or one enum of a million values, is within the limit. Parsing
 * larger messages would block the process.
 */
const MAX_MESSAGE_VALUES = 2_000_000;

/** Returns true for a message that is too large to parse. */
export function hasTooMuch(text: string): boolean {
  // A value takes at least two characters.
  return text.length > 2 * MAX_MESSAGE_VALUES && countKeys(text, Infinity, MAX_MESSAGE_VALUES) < 0;
}

/** Returns the error of a message with too many values, with the id of the request that the message answers. */
export function tooMuch(server: string, text: string): MessageTooLong {
  const about = findAnswered(Buffer.from(text.slice(0, 256)), Buffer.from(text.slice(-256)));
  return new MessageTooLong(server, { values: MAX_MESSAGE_VALUES }, about);
}

/** Reports an error outside any request to the listener of a transport. */
export function report(transport: Transport, error: unknown): void {
  transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
}

/** Checks only that the text is an object. The code that reads the message checks its contents. */
function parseMessage(text: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

/** Returns the error for text from a server that is not a message and was skipped. */
export function notAMessage(server: string, text: string): ArsenalError {
  const shown = showValue(text.slice(0, 400), 200);
  const message = `${server} sent something that is not a JSON-RPC message; it was skipped: ${shown}.`;
  return new ArsenalError("PROTOCOL_ERROR", message, { fix: "Make the server write its log messages to stderr." });
}

/** A message that was discarded because it was too long or had too many values. */
export class MessageTooLong extends ArsenalError {
  /** The id of the request that it answered, if it could be found. */
  readonly about: RequestId | undefined;

  constructor(server: string, most: number | { readonly values: number }, about?: RequestId) {
    const less = "Ask the tool for less at a time (a filter, a page, a smaller file)";
    const fix = typeof most === "number" ? `${less}, or raise max_message_bytes.` : `${less}.`;
    const size = typeof most === "number" ? `${most} bytes` : `${most.values} members and elements`;
    const message = `${server} sent a message of more than ${size}; it was thrown away. ${fix}`;
    super("RESULT_TOO_LARGE", message, { fix, answered: true });
    this.about = about;
  }
}

/** Returns the id of the answered request, read from the first and last bytes of the answer. Some servers write the id first, others last. */
export function findAnswered(head: Buffer, tail: Buffer = head): string | undefined {
  const idIn = (part: Buffer): string | undefined => /"id"\s*:\s*"(t\d+)"/.exec(part.toString("latin1"))?.[1];
  return idIn(head) ?? idIn(tail);
}
