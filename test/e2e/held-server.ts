import { once } from "node:events";
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

/** Something that is held until the test lets it go. */
export interface Held {
  readonly url: string;
  /** Resolves when the first request has arrived, and is being held. */
  readonly asked: Promise<void>;
  /** Answers everything that is held, and everything that comes later. */
  release(): void;
  close(): Promise<void>;
}

/** Holds every request until `release`, then hands it to `answer`. */
async function holding(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Held> {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    asked.resolve();
    void released.promise.then(() => answer(request, response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked: asked.promise,
    release: released.resolve,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Stands before a real MCP server over HTTP, and lets nothing through until it is released. */
export function holdServer(url: string): Promise<Held> {
  return holding((request, response) => {
    const passed = forward(url, { method: request.method, headers: request.headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  });
}

/** A real MCP server over stdio that answers `initialize` only once it is released. */
export async function holdStdio(): Promise<Held & { readonly command: string; readonly args: readonly string[] }> {
  const gate = await holding((_request, response) => void response.end());
  const program = fileURLToPath(new URL("./tiny-server.ts", import.meta.url));
  return { ...gate, command: process.execPath, args: [program, gate.url] };
}
