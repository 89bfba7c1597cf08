import { isUtf8 } from "node:buffer";
import { isPlainObject } from "../tool/json-schema.ts";
import { claimedVersion } from "./envelope.ts";
import { type JsonObject, type RpcMessage, type RpcRequest } from "./protocol.ts";

/** HTTP headers with names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** Returns the headers that describe a message of the modern era, so that proxies can route by them; undefined for any other message. */
export function toMessageHeaders(message: RpcMessage): Headers | undefined {
  if (!("method" in message) || !("id" in message)) return undefined;
  const { method, params } = message;
  const version = claimedVersion(params);
  if (typeof version !== "string") return undefined;
  const name = params?.[(Object.hasOwn(NAME_MEMBER, method) ? NAME_MEMBER[method] : undefined) ?? "name"];
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": toHeaderValue(name) }),
  };
}

/** By method: the member of `params` that the header `Mcp-Name` must equal. */
const NAME_MEMBER: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Describes how the headers of a modern request differ from its body; undefined if they agree. */
export function headerMismatch({ method, params }: RpcRequest, headers: Headers): string | undefined {
  const version = claimedVersion(params);
  const member = Object.hasOwn(NAME_MEMBER, method) ? NAME_MEMBER[method] : undefined;
  const name = member === undefined ? undefined : params?.[member];
  return (
    differs("MCP-Protocol-Version", headers["mcp-protocol-version"], version) ??
    differs("Mcp-Method", headers["mcp-method"], method) ??
    (member === undefined ? undefined : differs("Mcp-Name", headers["mcp-name"], name, decodeHeader))
  );
}

function differs(
  header: string,
  sent: string | undefined,
  body: unknown,
  decode: (value: string) => string | undefined = (value) => value,
): string | undefined {
  // A body without the value is malformed; the code that reads the body reports it.
  if (typeof body !== "string") return undefined;
  if (sent === undefined)
    return `Header mismatch: the header ${header} is missing; the body says ${JSON.stringify(body)}.`;
  const value = decode(sent);
  if (value === undefined) return `Header mismatch: the value of the header ${header} is not encoded correctly.`;
  if (value === body) return undefined;
  return `Header mismatch: the header ${header} says ${JSON.stringify(value)}, the body ${JSON.stringify(body)}.`;
}

/** Decodes a header value: plain text, or the content of `=?base64?…?=`. Undefined if it is not encoded correctly. */
export function decodeHeader(value: string): string | undefined {
  if (!/^[\t\x20-\x7e]*$/.test(value)) return undefined;
  if (!value.startsWith("=?base64?") || !value.endsWith("?=") || value.length < 11) return value;
  const encoded = value.slice(9, -2);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded && isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

/** An argument that a modern server also expects in an HTTP header, so that proxies can route by it. */
interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Reads the `x-mcp-header` marks of a tool's input schema. Marks are allowed only on properties, including properties of properties. */
export function readParamHeaders(
  inputSchema: unknown,
): { readonly headers: readonly ParamHeader[] } | { readonly fault: string } {
  const headers: ParamHeader[] = [];
  const names = new Set<string>();
  let fault: string | undefined;

  const read = (mark: unknown, type: unknown, path: readonly string[] | undefined): string | undefined => {
    if (path === undefined || path.length === 0) return "An x-mcp-header is not on a property.";
    const where = path.join(".");
    if (typeof mark !== "string" || !TOKEN.test(mark))
      return `The x-mcp-header of ${where} is not a valid header name.`;
    if (!TYPES.has(type)) return `The x-mcp-header of ${where} is not on a string, an integer or a boolean.`;
    if (names.has(mark.toLowerCase())) return `Two properties have the x-mcp-header ${mark}.`;
    names.add(mark.toLowerCase());
    headers.push({ header: `Mcp-Param-${mark}`, path });
    return undefined;
  };

  const visit = (node: unknown, path: readonly string[] | undefined): void => {
    if (Array.isArray(node)) for (const each of node) visit(each, undefined);
    if (!isPlainObject(node)) return;
    if (node["x-mcp-header"] !== undefined) fault ??= read(node["x-mcp-header"], node["type"], path);
    for (const [keyword, value] of Object.entries(node)) {
      if (NO_SCHEMAS.has(keyword)) continue;
      if (!NAMED_SCHEMAS.has(keyword) || !isPlainObject(value)) visit(value, undefined);
      else
        for (const [key, each] of Object.entries(value))
          visit(each, keyword === "properties" ? path && [...path, key] : undefined);
    }
  };

  visit(inputSchema, []);
  return fault === undefined ? { headers } : { fault };
}

/** Keywords whose values are data. */
const NO_SCHEMAS: ReadonlySet<string> = new Set(["x-mcp-header", "const", "default", "enum", "examples", "required"]);

/** Keywords whose values are schemas by name. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "$defs",
  "definitions",
  "patternProperties",
  "dependentSchemas",
]);

export function toParamHeaders(headers: readonly ParamHeader[], args: JsonObject): Readonly<Record<string, string>> {
  const sent: Record<string, string> = {};
  for (const { header, path } of headers) {
    let value: unknown = args;
    for (const key of path) value = isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      sent[header] = toHeaderValue(String(value));
  }
  return sent;
}

/** Encodes a value for a header: as plain text, or in base64 if plain text is not valid or would be changed on the way. */
export function toHeaderValue(value: string): string {
  const isPlain = PLAIN.test(value) && !(value.startsWith("=?base64?") && value.endsWith("?="));
  return isPlain ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
