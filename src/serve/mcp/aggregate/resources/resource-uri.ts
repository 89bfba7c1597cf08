import type { JsonObject } from "../../../../mcp/protocol.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";

/**
 * Separates the resources of several servers: `toolarsenal:NAME/` comes before the server's own URI, which follows unchanged. A template so stays
 * a template, and parsers that tidy URLs find no path in it to tidy.
 */
const SCHEME = "toolarsenal:";

/** Schemes with a meaning for clients. They are kept: the server's name becomes the first segment of the path. */
const KEPT_SCHEMES: readonly string[] = ["ui://", "skill://"];

/** Converts an upstream's URI, or URI template, to the one that clients see. */
export function toServedUri(upstream: string, uri: string): string {
  const kept = KEPT_SCHEMES.find((scheme) => uri.startsWith(scheme));
  if (kept !== undefined) return `${kept}${encodeName(upstream)}/${uri.slice(kept.length)}`;
  return `${SCHEME}${encodeName(upstream)}/${uri}`;
}

/** The upstream and its own URI; undefined for one that was not made by `toServedUri`. */
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

/** Quotes are no literals of a URI template, and `encodeURIComponent` leaves single ones. */
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

/** A tool's result, a prompt or a resource of an upstream, with its URIs converted to those that clients of the aggregate see. */
export function rewriteUris(result: JsonObject, upstream: string): JsonObject {
  const { content, contents, messages } = result;
  return {
    ...result,
    ...(Array.isArray(content) ? { content: content.map((block) => rewriteBlock(block, upstream)) } : {}),
    ...(Array.isArray(contents) ? { contents: contents.map((part) => withServedUri(part, upstream)) } : {}),
    ...(Array.isArray(messages) ? { messages: messages.map((message) => rewriteMessage(message, upstream)) } : {}),
  };
}

/** An object with its `uri` or `uriTemplate` converted to the one that clients see. */
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
