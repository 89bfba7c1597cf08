import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import type { EgressResponse } from "../../../../guard/egress/egress.ts";
import { createEventStreams } from "./event-streams.ts";
import { createExchange, discard, EVENTS_TYPE, type HttpParts, isOk, mediaTypeOf, toRefusal } from "./http-exchange.ts";
import { type Headers, toMessageHeaders } from "../../../../mcp/headers.ts";
import type { RequestId, RpcMessage } from "../../../../mcp/protocol.ts";
import { createByteBudget, readBody } from "./read-body.ts";
import { type HttpSettings, plainAddress } from "../settings.ts";
import type { StreamMessageInfo } from "./tap.ts";
import {
  deliver,
  hasTooMuch,
  isMessage,
  MAX_MESSAGE_BYTES,
  notAMessage,
  report,
  tooMuch,
} from "../../../../mcp/wire-message.ts";
import type { InputStream } from "../../../../base/streams.ts";
import { within } from "../../../../observe/clock.ts";

export interface StreamableHttp extends Transport {
  /** Ends the session at the server, if there is one. */
  endSession(): Promise<void>;
}

const JSON_TYPE = "application/json";

const FAREWELL_MS = 1000;

/** Communicates with a server over streamable HTTP. Each message is a POST. Its response is JSON or an event stream. */
export async function streamableHttpTransport(settings: HttpSettings, parts: HttpParts): Promise<StreamableHttp> {
  const { SdkError, SdkErrorCode } = await import("@modelcontextprotocol/client");
  const server = `The MCP server at ${plainAddress(settings.url)}`;
  const exchange = await createExchange(settings, parts);
  const { maxMessageBytes = MAX_MESSAGE_BYTES } = parts;
  const budget = createByteBudget(maxMessageBytes);
  const own = { server, maxMessageBytes, budget, open, deliver: deliverText, report: failed };
  const streams = createEventStreams({ ...parts, ...own });
  /** Headers of every message in the session: the session id and the protocol version. */
  let sessionHeaders: Headers = {};
  let closed = false;

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
    if (!isOk(response)) throw await toRefusal(response, server);
    const { "mcp-session-id": id } = response.headers;
    if (method === "initialize" && id) sessionHeaders = { ...sessionHeaders, "mcp-session-id": id };
    if ("method" in message && "id" in message) return await answered(response, message.id, options);
    discard(response);
    if (method === "notifications/initialized") streams.openOwn().catch(failed);
  }

  async function answered(response: EgressResponse, about: RequestId, options: TransportSendOptions): Promise<void> {
    const { requestSignal: signal, onRequestStreamEnd: onEnd } = options;
    switch (mediaTypeOf(response)) {
      case EVENTS_TYPE:
        return streams.follow(response.body, { about, signal, onEnd });
      case JSON_TYPE: {
        const text = await readBody(response.body, server, maxMessageBytes, budget);
        if (hasTooMuch(text)) throw tooMuch(server, text);
        const value: unknown = JSON.parse(text);
        for (const message of Array.isArray(value) ? value : [value]) {
          if (!isMessage(message)) throw new SyntaxError(notAMessage(server, text).message);
          transport.onmessage?.(message, { about } as StreamMessageInfo);
        }
        // Does nothing for a request that was already answered.
        return onEnd?.();
      }
      default: {
        discard(response);
        const what = response.headers["content-type"] ?? `HTTP ${response.status} and no content`;
        throw new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, `${server} answered a request with ${what}`);
      }
    }
  }

  function failed(error: unknown): void {
    if (!closed) report(transport, error);
  }

  function deliverText(text: string, about: RequestId | undefined): boolean {
    const info: StreamMessageInfo | undefined = about === undefined ? undefined : { about };
    const message = deliver(transport, text, server, info);
    return about !== undefined && message !== undefined && !("method" in message) && message.id === about;
  }

  async function open(lastEventId?: string, signal?: AbortSignal): Promise<InputStream | undefined> {
    const response = await exchange({
      method: "GET",
      headers: {
        accept: EVENTS_TYPE,
        ...sessionHeaders,
        ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
      },
      signal,
    });
    if (closed) return leave(response);
    if (response.status === 405) return discard(response) as undefined;
    if (!isOk(response) || mediaTypeOf(response) !== EVENTS_TYPE) throw await toRefusal(response, server);
    return response.body;
  }

  const transport: StreamableHttp = {
    hasPerRequestStream: true,
    get sessionId() {
      return sessionHeaders["mcp-session-id"];
    },
    async start() {},
    send,
    setProtocolVersion: (version) => void (sessionHeaders = { ...sessionHeaders, "mcp-protocol-version": version }),
    async endSession() {
      if (transport.sessionId === undefined) return;
      const ended = exchange({ method: "DELETE", headers: sessionHeaders }).then(discard, () => {});
      await within(FAREWELL_MS, ended, parts.clock);
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

function leave({ body }: EgressResponse): undefined {
  body.on("error", () => {});
  body.destroy();
}
