import { isPlainObject } from "../tool/json-schema.ts";
import type { JsonObject } from "./protocol.ts";

/** An argument that a modern server wants to see in an HTTP header too, so that proxies can route by it. */
export interface ParamHeader {
  readonly header: string;
  /** Where the argument lies. */
  readonly path: readonly string[];
}

/** The headers a tool asks for, or why its definition is invalid. */
export type ParamHeaders = { readonly headers: readonly ParamHeader[] } | { readonly fault: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Reads the `x-mcp-header` marks of a tool's input schema. They may stand on properties, and on properties of properties, alone. */
export function readParamHeaders(inputSchema: unknown): ParamHeaders {
  const headers: ParamHeader[] = [];
  const names = new Set<string>();
  let fault: string | undefined;

  const read = (mark: unknown, type: unknown, path: readonly string[] | undefined): string | undefined => {
    if (path === undefined || path.length === 0) return "An x-mcp-header stands on something that is no property.";
    const where = path.join(".");
    if (typeof mark !== "string" || !TOKEN.test(mark)) return `The x-mcp-header of ${where} is no header name.`;
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

/** The headers that go with a call's arguments. */
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

/** A value as a header can carry it: as it is, or in base64 where a header would change or refuse it. */
export function toHeaderValue(value: string): string {
  const isPlain = PLAIN.test(value) && !(value.startsWith("=?base64?") && value.endsWith("?="));
  return isPlain ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
