import type { JsonObject } from "../../../../mcp/protocol.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { toServedUri } from "./resource-uri.ts";

/** A tool's result, a prompt or a resource as an upstream gave it, with the URIs in it as clients of the aggregate know them. */
export function rewriteUris(result: JsonObject, upstream: string): JsonObject {
  const { content, contents, messages } = result;
  return {
    ...result,
    ...(Array.isArray(content) ? { content: content.map((block) => rewriteBlock(block, upstream)) } : {}),
    ...(Array.isArray(contents) ? { contents: contents.map((part) => withServedUri(part, upstream)) } : {}),
    ...(Array.isArray(messages) ? { messages: messages.map((message) => rewriteMessage(message, upstream)) } : {}),
  };
}

/** An object with a `uri` or `uriTemplate`, with that as clients know it. */
export function withServedUri(given: unknown, upstream: string): unknown {
  if (!isPlainObject(given)) return given;
  const { uri, uriTemplate } = given;
  return {
    ...given,
    ...(typeof uri === "string" ? { uri: toServedUri(upstream, uri) } : {}),
    ...(typeof uriTemplate === "string" ? { uriTemplate: toServedUri(upstream, uriTemplate) } : {}),
  };
}

function rewriteBlock(block: unknown, upstream: string): unknown {
  if (!isPlainObject(block)) return block;
  if (block["type"] === "resource_link") return withServedUri(block, upstream);
  if (block["type"] === "resource") return { ...block, resource: withServedUri(block["resource"], upstream) };
  return block;
}

function rewriteMessage(message: unknown, upstream: string): unknown {
  if (!isPlainObject(message)) return message;
  const { content } = message;
  const rewritten = Array.isArray(content)
    ? content.map((block) => rewriteBlock(block, upstream))
    : rewriteBlock(content, upstream);
  return { ...message, content: rewritten };
}
