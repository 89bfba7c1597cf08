import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import type { EgressResponse } from "../../../../guard/egress/egress.ts";
import type { Clock } from "../../../../observe/clock.ts";
import { createByteBudget } from "./byte-budget.ts";
import { createEventStreams } from "./event-streams.ts";
import { createExchange, discard, type ExchangeParts } from "./http-exchange.ts";
import { type Headers, toMessageHeaders } from "../../../../mcp/message-headers.ts";
import type { RequestId, RpcMessage } from "../../../../mcp/protocol.ts";
import { readBody } from "./read-body.ts";
import type { HttpSettings } from "../settings.ts";
import type { StreamMessageInfo } from "./tap.ts";
import { isMessage, MAX_MESSAGE_BYTES, notAMessage } from "../../../../mcp/wire-message.ts";
import type { InputStream } from "../../../../tool/streams.ts";

/** What streamable HTTP is made of. */
export interface StreamableHttpParts extends Omit<ExchangeParts, "toUnauthorized"> {
  readonly clock: Clock;
  /** The longest message, in bytes. Default 16 MiB. */
  readonly maxMessageBytes?: number;
  /** Called when the server's own stream broke and could not be opened again. */
  readonly lost: (error: Error) => void;
}

/** Streamable HTTP, of both eras. */
export interface StreamableHttp extends Transport {
  /** Tells the server that the session is over, where there is one. */
  endSession(): Promise<void>;
}

/** What is read of an answer that is not a success. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream";

/** Talks to a server over streamable HTTP: each message is a POST, whose answer is JSON or a stream of events. Messages are handed on as they came. */
export async function streamableHttpTransport(
  settings: HttpSettings,
  parts: StreamableHttpParts,
): Promise<StreamableHttp> {
  const { SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } = await import("@modelcontextprotocol/client");
  const { origin, pathname } = new URL(settings.url);
  const server = `The MCP server at ${origin}${pathname}`;
  const exchange = await createExchange(settings, {
    ...parts,
    toUnauthorized: (cause) => Object.assign(new UnauthorizedError(cause.message), { cause }),
  });
  const { maxMessageBytes = MAX_MESSAGE_BYTES } = parts;
  const budget = createByteBudget(maxMessageBytes);
  const streams = createEventStreams({ ...parts, maxMessageBytes, budget, server, open, deliver: deliverText, report });
  let sessionId: string | undefined;
  let protocolVersion: string | undefined;
  /** What goes with every message of the session, made anew when one of the two changes. */
  let sessionHeaders: Headers = {};
  let closed = false;

  function renewSessionHeaders(): void {
    sessionHeaders = {
      ...(sessionId === undefined ? {} : { "mcp-session-id": sessionId }),
      ...(protocolVersion === undefined ? {} : { "mcp-protocol-version": protocolVersion }),
    };
  }

  async function send(given: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const message = given as RpcMessage;
    const method = "method" in message ? message.method : undefined;
    const response = await exchange({
      method: "POST",
      headers: {
        ...options.headers,
        "content-type": JSON_TYPE,
        accept: `${JSON_TYPE}, ${EVENTS_TYPE}`,
        ...sessionHeaders,
        ...toMessageHeaders(message),
      },
      body: JSON.stringify(message),
      signal: options.requestSignal,
    });
    if (closed) return leave(response);
    if (!isOk(response)) throw await refusal(response);
    if (method === "initialize") {
      sessionId = response.headers["mcp-session-id"] || undefined;
      renewSessionHeaders();
    }
    if ("method" in message && "id" in message) return answered(response, message.id, options);
    discard(response);
    if (method === "notifications/initialized") streams.openOwn().catch(report);
  }

  /** Reads the answer to a request. */
  async function answered(response: EgressResponse, about: RequestId, options: TransportSendOptions): Promise<void> {
    const { requestSignal: signal, onRequestStreamEnd: onEnd } = options;
    switch (mediaTypeOf(response)) {
      case EVENTS_TYPE:
        return streams.follow(response.body, { about, signal, onEnd });
      case JSON_TYPE: {
        const text = await readBody(response.body, server, maxMessageBytes, budget);
        const value: unknown = JSON.parse(text);
        for (const message of Array.isArray(value) ? value : [value]) {
          if (!isMessage(message)) throw new SyntaxError(notAMessage(server, text).message);
          handOn(message, about);
        }
        // Nothing happens here to a request that was answered.
        return onEnd?.();
      }
      default: {
        discard(response);
        const what = response.headers["content-type"] ?? `HTTP ${response.status} and no content`;
        throw new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, `${server} answered a request with ${what}`);
      }
    }
  }

  function handOn(message: JSONRPCMessage, about: RequestId | undefined): void {
    const info: StreamMessageInfo | undefined = about === undefined ? undefined : { about };
    transport.onmessage?.(message, info);
  }

  function deliverText(text: string, about: RequestId | undefined): boolean {
    try {
      const message: unknown = JSON.parse(text);
      if (!isMessage(message)) throw notAMessage(server, text);
      handOn(message, about);
      return about !== undefined && !("method" in message) && message.id === about;
    } catch (error) {
      report(error instanceof SyntaxError ? notAMessage(server, text) : error);
      return false;
    }
  }

  async function open(
    lastEventId: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<InputStream | undefined> {
    const response = await exchange({
      method: "GET",
      headers: {
        accept: EVENTS_TYPE,
        ...sessionHeaders,
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
      signal,
    });
    if (closed) return leave(response);
    if (response.status === 405) return discard(response) as undefined;
    if (!isOk(response) || mediaTypeOf(response) !== EVENTS_TYPE) throw await refusal(response);
    return response.body;
  }

  async function refusal(response: EgressResponse): Promise<Error> {
    const { status } = response;
    const text = await readBody(response.body, server, MAX_REFUSAL_BYTES).catch(() => "");
    return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `it answered HTTP ${status}`, { status, text });
  }

  function report(error: unknown): void {
    if (!closed) transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }

  const transport: StreamableHttp = {
    hasPerRequestStream: true,
    get sessionId() {
      return sessionId;
    },
    async start() {},
    send,
    setProtocolVersion(version) {
      protocolVersion = version;
      renewSessionHeaders();
    },
    async endSession() {
      if (sessionId === undefined) return;
      discard(await exchange({ method: "DELETE", headers: sessionHeaders }));
    },
    async close() {
      if (closed) return;
      closed = true;
      streams.close();
      parts.egress.close();
      transport.onclose?.();
    },
  };
  return transport;
}

function isOk({ status }: EgressResponse): boolean {
  return status >= 200 && status < 300;
}

function mediaTypeOf({ headers }: EgressResponse): string | undefined {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
}

function leave({ body }: EgressResponse): undefined {
  body.on("error", () => {});
  body.destroy();
}
