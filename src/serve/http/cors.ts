import type { IncomingMessage, ServerResponse } from "node:http";

/** Lets the web page that an allowed Origin names read the answer. */
export function letPageRead(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", "Mcp-Session-Id, WWW-Authenticate");
  response.setHeader("vary", "Origin");
}

/** True for a browser's question whether a page may make a request. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

/** Answers an allowed page's preflight. It may send any header: what reaches a route is checked there. */
export function answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  response
    .writeHead(204, {
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": headers["access-control-request-headers"] ?? "content-type",
      "access-control-max-age": "600",
    })
    .end();
}
