import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { deliver, MAX_MESSAGE_BYTES, MessageTooLong } from "../../../../mcp/wire-message.ts";
import type { EgressResponse } from "../../../../guard/egress/egress.ts";
import type { HttpSettings } from "../settings.ts";
import { createFloodGate } from "./flood-gate.ts";
import {
  createExchange,
  discard,
  EVENTS_TYPE,
  type ExchangeRequest,
  type HttpParts,
  isOk,
  mediaTypeOf,
  toRefusal,
} from "./http-exchange.ts";
import { createEventReader } from "./read-events.ts";

const MAX_REDIRECTS = 5;

/**
 * Communicates with a server over the older HTTP+SSE. Messages arrive on one event stream, which is the session. They are sent as POSTs to an address
 * from that stream.
 */
export async function httpWithSseTransport(settings: HttpSettings, parts: HttpParts): Promise<Transport> {
  const { clock, egress, lost, maxMessageBytes = MAX_MESSAGE_BYTES } = parts;
  const exchange = await createExchange(settings, parts);
  const address = new URL(settings.url);
  const { origin } = address;
  const server = `The MCP server at ${origin}`;
  const named = Promise.withResolvers<URL>();
  named.promise.catch(() => {});
  let version: Readonly<Record<string, string>> = {};
  let closed = false;

  /** Sends a request. Follows redirects only within the server's own origin. */
  async function ask(request: ExchangeRequest, redirects = 0): Promise<EgressResponse> {
    const response = await exchange({ ...request, maxRedirects: 0 });
    const { status, headers } = response;
    const isRedirect = request.method === "GET" ? status >= 300 && status < 400 : status === 307 || status === 308;
    const url = isRedirect ? URL.parse(headers["location"] ?? "", response.url) : null;
    if (url?.origin !== origin || redirects === MAX_REDIRECTS) return response;
    discard(response);
    return ask({ ...request, url }, redirects + 1);
  }

  async function start(): Promise<void> {
    const response = await ask({ url: address, method: "GET", headers: { accept: EVENTS_TYPE } });
    if (!isOk(response) || mediaTypeOf(response) !== EVENTS_TYPE) throw await toRefusal(response, server);
    const { body } = response;
    const gate = createFloodGate(clock);
    const reader = createEventReader({
      maxBytes: maxMessageBytes,
      onData(text, type) {
        gate.count(false);
        if (type === "endpoint") takeEndpoint(text);
        else if (type === "message") deliver(transport, text, server);
      },
      onTooLong: () => fail(new MessageTooLong(server, maxMessageBytes)),
    });
    body.on("data", (chunk: Buffer) => {
      reader.push(chunk);
      gate.hold(body);
    });
    body.on("error", () => {});
    body.once("close", () => fail(new Error("its stream broke")));
    await named.promise;
  }

  function takeEndpoint(written: string): void {
    const endpoint = URL.parse(written, address.href);
    if (endpoint?.origin === origin) named.resolve(endpoint);
    else fail(new Error(`it names ${endpoint?.origin ?? "no address"} as the origin to post to, instead of its own`));
  }

  function fail(error: Error): void {
    if (closed) return;
    named.reject(error);
    transport.onerror?.(error);
    lost(error);
    void close();
  }

  async function send(message: JSONRPCMessage): Promise<void> {
    const headers = { "content-type": "application/json", ...version };
    const url = await named.promise;
    const response = await ask({ url, method: "POST", headers, body: JSON.stringify(message) });
    if (!isOk(response)) throw await toRefusal(response, server);
    discard(response);
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    named.reject(new Error("the connection was closed"));
    egress.close();
    transport.onclose?.();
  }

  const setProtocolVersion = (given: string): void => void (version = { "mcp-protocol-version": given });
  const transport: Transport = { start, send, setProtocolVersion, close };
  return transport;
}
