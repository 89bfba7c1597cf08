import { sha256 } from "../../base/crypto.ts";
import type { Tool } from "../tool.ts";

/**
 * Writes JSON with sorted object keys, so that equal data gives equal text. Includes own enumerable properties only. Values that JSON omits
 * (undefined, functions, symbols) are omitted, or null in an array. Throws on cyclic data, like `JSON.stringify`.
 */
export function canonicalJson(value: unknown): string {
  return write(value) ?? "null";
}

function write(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return Number.isFinite(value) ? String(value + 0) : "null";
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return JSON.stringify(String(value));
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return "null";
  if (Array.isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index++) {
      text += `${index === 0 ? "" : ","}${write(value[index]) ?? "null"}`;
    }
    return `${text}]`;
  }
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return write(toJSON.call(value));
  const keys = Object.keys(value);
  if (keys.length > 1) keys.sort();
  let text = "{";
  for (const key of keys) {
    const written = write((value as Record<string, unknown>)[key]);
    if (written !== undefined) text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${written}`;
  }
  return `${text}}`;
}

/** The fields that a tool's hash covers: all except derived fields, the creation time and the owner. */
export type HashedFields = Omit<Tool, "id" | "createdAt" | "ownedByCode" | "contentHash">;

/** Returns sixteen hex digits that change if and only if the tool changes. */
export function contentHash(tool: HashedFields): string {
  const { id: _id, createdAt: _time, ownedByCode: _owner, contentHash: _hash, ...content } = tool as Tool;
  return shortHash(canonicalJson(content), 16);
}

/** Returns the first `digits` hex digits of a text's SHA-256. */
export function shortHash(text: string, digits: number): string {
  return sha256(text).slice(0, digits);
}
