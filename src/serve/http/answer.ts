import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { RPC } from "../../mcp/protocol.ts";
import { nextTurn } from "../../base/turns/event-loop.ts";

/** Answers with JSON in one write. */
export function answerJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: OutgoingHttpHeaders,
): void {
  answerText(response, status, JSON.stringify(value), headers);
}

/** Answers with a text, by default as JSON. The connection is closed if the body of a refused request was left unread. */
export function answerText(
  response: ServerResponse,
  status: number,
  text: string,
  headers?: OutgoingHttpHeaders,
): void {
  // Creating and sending a large answer run in separate turns of the event loop.
  if (text.length > LARGE) void nextTurn().then(() => send(response, status, text, headers));
  else send(response, status, text, headers);
}

const LARGE = 1024 * 1024;

function send(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders | undefined): void {
  if (response.headersSent || response.destroyed) return;
  response
    .writeHead(status, {
      "content-type": "application/json",
      ...headers,
      ...((status === 408 || status === 413) && { connection: "close" }),
      "content-length": Buffer.byteLength(text),
      // An answer may quote the request, so a browser must not render it as a page.
      "x-content-type-options": "nosniff",
    })
    .end(text);
}

/** Refuses a request with a JSON-RPC error that has no id. */
export function refuse(
  response: ServerResponse,
  refused: { readonly status: number; readonly message: string; readonly code?: number },
  headers?: OutgoingHttpHeaders,
): void {
  const { status, message, code = RPC.invalidRequest } = refused;
  answerJson(response, status, { jsonrpc: "2.0", error: { code, message }, id: null }, headers);
}

/** Refuses a method that a path does not support, and lists the supported ones. */
export function refuseMethod(response: ServerResponse, allowed: string): void {
  refuse(response, { status: 405, message: `This path takes ${allowed} only.` }, { allow: allowed });
}
