import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { openapiSource, type OpenApiParts } from "../../src/adapters/sources/openapi/openapi.ts";
import type { OpenApiSettings } from "../../src/adapters/sources/openapi/settings.ts";
import { normaliseTool } from "../../src/tool/normalise/normalise-tool.ts";

/** What a server on loopback was sent, byte for byte. */
export interface Sent {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A server on loopback that keeps what it is sent. */
export interface EchoServer {
  readonly url: string;
  readonly sent: readonly Sent[];
  close(): Promise<void>;
}

/** Starts a server that answers `{}`, or as it is told. */
export async function startEcho(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    void response.writeHead(200, { "content-type": "application/json" }).end("{}"),
): Promise<EchoServer> {
  const sent: Sent[] = [];
  const listener: RequestListener = async (request, response) => {
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    const { method = "", url = "", headers } = request;
    sent.push({ method, target: url, headers, body: body.toString("latin1") });
    answer(request, response);
  };
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    sent,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** A document with these paths. */
export function documentOf(paths: object, more: object = {}): object {
  return { openapi: "3.1.0", info: { title: "Test", version: "1" }, paths, ...more };
}

/** Calls one operation of a document as the arsenal does. */
export async function callOperation(
  settings: Omit<OpenApiSettings, "name">,
  operation: string,
  args: Readonly<Record<string, unknown>> = {},
  options: { readonly parts?: OpenApiParts; readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  const { signal = new AbortController().signal } = options;
  const source = openapiSource({ name: "test", ...settings }, options.parts);
  try {
    await source.connect({ signal: new AbortController().signal });
    const offered = (await source.list({ signal })).find(({ draft }) => draft.sourceName === operation);
    if (offered === undefined) throw new Error(`no tool ${operation}: ${JSON.stringify(source.problems)}`);
    const tool = normaliseTool(offered.draft, { source: "openapi", namespace: "test" });
    const context = {
      auxdata: {},
      tool,
      state: new Map(),
      signal,
      traceId: "t",
      spanId: "s",
      attempt: 1,
      progress() {},
    };
    return await offered.handler({ ...args }, context);
  } finally {
    await source.disconnect();
  }
}
