import { isPlainObject } from "../tool/json-schema.ts";
import { toHeaderValue } from "./param-headers.ts";
import { META, type RpcMessage } from "./protocol.ts";

/** Headers of one request. Names are in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** What a message of the modern era says of itself in headers, so that proxies can route by it; undefined for any other message. */
export function toMessageHeaders(message: RpcMessage): Headers | undefined {
  if (!("method" in message) || !("id" in message)) return undefined;
  const { method, params } = message;
  const meta = params?.["_meta"];
  const version = isPlainObject(meta) ? meta[META.protocolVersion] : undefined;
  if (typeof version !== "string") return undefined;
  const name = params?.[method === "resources/read" ? "uri" : "name"];
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": toHeaderValue(name) } : {}),
  };
}
