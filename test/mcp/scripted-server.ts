import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { afterEach, expect } from "vitest";
import { createCredentials } from "../../src/adapters/sources/mcp/connection/credentials.ts";
import { createEgress } from "../../src/guard/egress/egress.ts";
import type { Clock } from "../../src/observe/clock.ts";
import type { HttpSettings } from "../../src/adapters/sources/mcp/settings.ts";
import {
  type StreamableHttp,
  streamableHttpTransport,
} from "../../src/adapters/sources/mcp/transports/streamable-http.ts";
import type { StreamMessageInfo } from "../../src/adapters/sources/mcp/transports/tap.ts";

/** A request that came to the scripted server, and how it is answered. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly response: ServerResponse;
}

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** A server whose answers the test writes itself. */
export async function scripted(): Promise<{ readonly url: string; next(): Promise<Received> }> {
  const waiting: Received[] = [];
  const arrivals = new EventEmitter();
  async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = incoming;
    waiting.push({ method, url, headers, body: await text(incoming), response });
    arrivals.emit("request");
  }
  const server = createServer((incoming, response) => void take(incoming, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  async function next(): Promise<Received> {
    const first = waiting.shift();
    if (first !== undefined) return first;
    await once(arrivals, "request");
    return next();
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, next };
}

/** A clock on which the test runs each timer itself. */
function handClock(): Clock & {
  readonly pending: number;
  next(): Promise<{ readonly ms: number; readonly run: () => void }>;
} {
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const set = new EventEmitter();
  return {
    now: () => 0,
    get pending() {
      return timers.length;
    },
    after(ms, run) {
      timers.push({ ms, run });
      set.emit("timer");
      return () => {};
    },
    async next() {
      if (timers.length === 0) await once(set, "timer");
      return timers.shift() ?? expect.unreachable("A timer was set.");
    },
  };
}

/** A transport that a test looks into. */
export interface Opened {
  readonly transport: StreamableHttp;
  readonly clock: ReturnType<typeof handClock>;
  readonly errors: Error[];
  readonly lost: Error[];
  /** The next message that the transport hands on, and the request it belongs to. */
  message(): Promise<{ readonly message: JSONRPCMessage; readonly about: unknown }>;
}

/** Opens the transport to a server. */
export async function open(url: string, settings: Partial<HttpSettings> = {}): Promise<Opened> {
  const clock = handClock();
  const lost: Error[] = [];
  const errors: Error[] = [];
  const messages: { readonly message: JSONRPCMessage; readonly about: unknown }[] = [];
  const arrivals = new EventEmitter();
  const transport = await streamableHttpTransport(
    { kind: "http", url, ...settings },
    {
      clock,
      egress: createEgress(),
      credentials: createCredentials("scripted"),
      lost: (error) => (lost.push(error), void arrivals.emit("lost")),
    },
  );
  const listener: Pick<Transport, "onmessage" | "onerror"> = {
    onmessage(message, extra?: StreamMessageInfo) {
      messages.push({ message, about: extra?.about });
      arrivals.emit("message");
    },
    onerror: (error) => void errors.push(error),
  };
  Object.assign(transport, listener);
  await transport.start();
  cleanups.push(() => transport.close());
  return {
    transport,
    clock,
    errors,
    lost,
    async message() {
      if (messages.length === 0) await once(arrivals, "message");
      return messages.shift() ?? expect.unreachable("A message came.");
    },
  };
}

/** A request as it goes over the wire. */
export function request(method: string, id: string | number = "t1", params: object = {}): JSONRPCMessage {
  return { jsonrpc: "2.0", id, method, params } as JSONRPCMessage;
}

/** Answers with a body of JSON. */
export function answerJson({ response }: Received, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/json; charset=utf-8", ...headers }).end(body);
}

/** Answers with a stream of events. */
export function stream({ response }: Received): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  return response;
}

/** An answer whose members stand in an order that nobody would write them in. */
export const ANSWER: string =
  '{"result":{"zebra":1,"content":[{"text":"hi","type":"text"}],"apple":null},"id":"t1","jsonrpc":"2.0"}';
