import type { JsonObject } from "../../../../mcp/protocol.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";

/**
 * Separates the resources of several servers: `toolarsenal:NAME/` precedes the server's own, unchanged URI. So a template stays a template, and URL
 * parsers find no path that they could normalize.
 */
const SCHEME = "toolarsenal:";

/** Schemes with a meaning for clients. They are kept, and the server's name becomes the first path segment. */
const KEPT_SCHEMES: readonly string[] = ["ui://", "skill://"];

/** Converts an upstream's URI, or URI template, to the one that clients see. */
export function toServedUri(upstream: string, uri: string): string {
  const kept = KEPT_SCHEMES.find((scheme) => uri.startsWith(scheme));
  if (kept !== undefined) return `${kept}${encodeName(upstream)}/${uri.slice(kept.length)}`;
  return `${SCHEME}${encodeName(upstream)}/${uri}`;
}

/** Returns the upstream and its own URI; undefined for a URI that was not made by `toServedUri`. */
export function fromServedUri(served: string): { readonly upstream: string; readonly uri: string } | undefined {
  const kept = KEPT_SCHEMES.find((scheme) => served.startsWith(scheme));
  if (kept !== undefined) {
    const end = served.indexOf("/", kept.length);
    const name = end < 0 ? undefined : decodeName(served.slice(kept.length, end));
    return name === undefined ? undefined : { upstream: name, uri: kept + served.slice(end + 1) };
  }
  const slash = served.indexOf("/");
  if (!served.startsWith(SCHEME) || slash < 0) return undefined;
  const upstream = decodeName(served.slice(SCHEME.length, slash));
  return upstream === undefined ? undefined : { upstream, uri: served.slice(slash + 1) };
}

/** A URI template may not contain quotes, and `encodeURIComponent` does not encode single quotes. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll("'", "%27");
}

function decodeName(encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    return encodeName(name) === encoded ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Converts the URIs in an upstream's tool result, prompt or resource to the ones that clients of the aggregate see. */
export function rewriteUris(result: JsonObject, upstream: string): JsonObject {
  const { content, contents, messages } = result;
  return {
    ...result,
    ...(Array.isArray(content) ? { content: content.map((block) => rewriteBlock(block, upstream)) } : {}),
    ...(Array.isArray(contents) ? { contents: contents.map((part) => withServedUri(part, upstream)) } : {}),
    ...(Array.isArray(messages) ? { messages: messages.map((message) => rewriteMessage(message, upstream)) } : {}),
  };
}

/** Converts the `uri` or `uriTemplate` of an object to the one that clients see. */
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
