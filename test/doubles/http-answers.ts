import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A real server on this machine that answers as it is told. */
export interface HttpAnswers extends AsyncDisposable {
  readonly url: string;
  /** The requests so far: method, path and body. */
  readonly seen: readonly string[];
}

/** Answers one request; `count` is 1 for the first. */
export type Respond = (request: IncomingMessage, response: ServerResponse, count: number) => void;

export async function httpAnswers(respond: Respond): Promise<HttpAnswers> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      seen.push(`${request.method} ${request.url} ${body}`.trim());
      respond(request, response, seen.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function answerJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Ends the connection without an answer. */
export function hangUp(response: ServerResponse): void {
  response.socket?.destroy();
}
