import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A server that is written in the test: what it answers, by path. */
export interface PlainServer extends AsyncDisposable {
  readonly url: string;
  /** The bodies that were sent, as JSON, in order. */
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
  readonly paths: readonly string[];
}

/** Answers one request. `body` is what was sent, as JSON. */
export type Answer = (
  response: ServerResponse,
  body: Readonly<Record<string, unknown>>,
  request: IncomingMessage,
  url: string,
) => unknown;

/** Starts a server on loopback. Paths that are not named answer 404. */
export async function startPlainServer(answers: Readonly<Record<string, Answer>>): Promise<PlainServer> {
  const bodies: Readonly<Record<string, unknown>>[] = [];
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", url).pathname;
    paths.push(path);
    const sent = await text(request);
    const body = (sent.startsWith("{") ? JSON.parse(sent) : {}) as Readonly<Record<string, unknown>>;
    if (sent !== "") bodies.push(body);
    const answer = answers[path];
    if (answer === undefined) response.writeHead(404).end();
    else await answer(response, body, request, url);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    bodies,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** A 1.0 card of an agent at `/agent`, without skills of its own. */
export function cardOf(url: string, more: object = {}): object {
  return {
    name: "Plain",
    description: "Answers.",
    version: "1.0.0",
    supportedInterfaces: [{ url: `${url}/agent`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: false },
    skills: [],
    ...more,
  };
}
