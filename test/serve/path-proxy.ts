import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** The two ways in which reverse proxies serve a gateway below a path: the path is removed, or passed on. */
export const PROXY_WAYS = [
  { way: "removes the path", strips: true },
  { way: "passes the path on", strips: false },
] as const;

/** A reverse proxy on loopback. It serves a gateway below `/tools`, and the OAuth metadata at the root of the host. */
export interface PathProxy {
  /** The public address: `http://127.0.0.1:PORT/tools`. */
  readonly url: string;
  readonly origin: string;
  /** Requests that the proxy itself refused, because nothing of the gateway is there. */
  readonly refused: string[];
  /** The gateway behind it, once it listens. */
  target: string;
}

const PREFIX = "/tools";
const METADATA = "/.well-known/oauth-protected-resource/tools";

/** Starts the proxy, which is closed when the test ends. */
export async function startPathProxy({ strips }: { readonly strips: boolean }): Promise<PathProxy> {
  const server = createServer((received, response) => {
    const { url = "", method = "GET", headers } = received;
    const isBelow = (path: string): boolean => url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`);
    if (!isBelow(PREFIX) && !isBelow(METADATA)) {
      proxy.refused.push(`${method} ${url}`);
      return void response.writeHead(404, { "content-type": "text/plain" }).end("The proxy serves nothing here.");
    }
    const rest = url.slice(PREFIX.length);
    const path = strips && isBelow(PREFIX) ? (rest.startsWith("/") ? rest : `/${rest}`) : url;
    const { hostname, port } = new URL(proxy.target);
    const sent = request({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // A stream that opens without an event is seen at once.
      response.flushHeaders();
      answer.pipe(response);
    });
    sent.once("error", () => response.destroy());
    response.once("close", () => sent.destroy());
    received.pipe(sent);
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: PathProxy = { url: origin + PREFIX, origin, refused: [], target: "" };
  return proxy;
}
