import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type JsonObject, META, RpcError } from "../../src/mcp/protocol.ts";
import { isPlainObject } from "../../src/tool/json-schema.ts";

/** One request, as a server of 2026-07-28 gets it. */
export interface RawRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** The capabilities that the client announced with this request. */
  readonly capabilities: JsonObject;
  readonly headers: IncomingHttpHeaders;
}

/** Serves a table of methods over HTTP as a server of 2026-07-28, below the level of any SDK. */
export async function serveRawModern(
  answer: (request: RawRequest) => JsonObject | Promise<JsonObject>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const {
      id,
      method,
      params = {},
    } = (await json(request)) as {
      id?: number;
      method: string;
      params?: JsonObject;
    };
    if (id === undefined) return void response.writeHead(202).end();
    const meta = isPlainObject(params["_meta"]) ? params["_meta"] : {};
    const given = meta[META.clientCapabilities];
    const capabilities = isPlainObject(given) ? given : {};
    const reply = await Promise.resolve()
      .then(() => answer({ method, params, capabilities, headers: request.headers }))
      .then(
        (result) => ({ result: { resultType: "complete", ...result } }),
        (error: unknown) => ({
          error: error instanceof RpcError ? error.body : { code: -32_603, message: String(error) },
        }),
      );
    const isUnknown = "error" in reply && reply.error.code === -32_601;
    response.writeHead(isUnknown ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
