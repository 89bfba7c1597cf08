import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** What the scripted model says: text, calls, or both. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: object }[];
}

/** A stand-in for a provider's API. */
export interface ScriptedModel {
  /** The base URL to give to the SDK. */
  readonly url: string;
  /** The body of every request so far. */
  readonly requests: readonly Request[];
  close(): void;
}

/** The part of a request that all providers share: the tools the model was offered. */
export interface Request {
  readonly tools?: readonly object[];
}

/**
 * Serves the replies of a script, one per request, on a free port of this machine. `write` turns a reply into the server-sent events of the
 * provider's API. It lets the examples run without an API key; everything else in them is real.
 */
export async function serveScript(
  script: readonly Reply[],
  write: (reply: Reply) => Iterable<string>,
): Promise<ScriptedModel> {
  const requests: Request[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as Request;
    const reply = script[requests.length] ?? { text: "The script has ended." };
    requests.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of write(reply)) response.write(`${event}\n\n`);
    response.end();
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, close: () => void server.close().closeAllConnections() };
}
