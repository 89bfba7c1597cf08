import { isPlainObject } from "../../tool/json-schema.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { typeOfValue } from "../schema/types-of.ts";

/** A value read as another type, and how. */
export interface Read {
  readonly value: unknown;
  readonly message: string;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const MAX_TEXT = 1_000_000;

/** A value of a type that a schema does not take, read as the one type that it does; undefined where that is not sure. */
export function readAs(value: unknown, types: ReadonlySet<string>, parts: readonly SchemaNode[]): Read | undefined {
  if (typeof value === "string")
    return readListed(value, parts) ?? (types.has("string") ? undefined : readText(value, types));
  if (Array.isArray(value) && types.has("object") && !types.has("array")) return readPairs(value);
  return undefined;
}

/** One of the values that a schema lists, with blanks around it or as text. */
function readListed(text: string, parts: readonly SchemaNode[]): Read | undefined {
  const trimmed = text.trim();
  const lists = parts
    .map((part) => (Object.hasOwn(part, "const") ? [part["const"]] : part["enum"]))
    .filter(Array.isArray);
  const [listed] = lists;
  if (listed === undefined) return undefined;
  const same = listed.filter((value) => value === trimmed || (typeof value === "number" && String(value) === trimmed));
  const [only] = same;
  return same.length === 1 ? { value: only, message: "as one of the values that are listed" } : undefined;
}

function readText(text: string, types: ReadonlySet<string>): Read | undefined {
  const trimmed = text.trim();
  const read: Read[] = [];
  if (types.has("number") && NUMBER.test(trimmed) && Number.isFinite(Number(trimmed)))
    read.push({ value: Number(trimmed), message: "text, read as a number" });
  if (types.has("boolean") && /^(true|false)$/i.test(trimmed))
    read.push({ value: trimmed.toLowerCase() === "true", message: "text, read as a boolean" });
  if (types.has("object") || types.has("array")) {
    const parsed = parse(trimmed);
    if (typeof parsed === "object" && parsed !== null && types.has(typeOfValue(parsed)))
      read.push({ value: parsed, message: "JSON text, read" });
    else if (Array.isArray(parsed)) {
      const pairs = readPairs(parsed);
      if (pairs !== undefined) read.push(pairs);
    }
  }
  return read.length === 1 ? read[0] : undefined;
}

function parse(text: string): unknown {
  if (text.length > MAX_TEXT || !/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A list of keys and values as the object it stands for. Of a key that is there twice, the last counts, as in JSON. */
function readPairs(items: readonly unknown[]): Read | undefined {
  const entries: (readonly [string, unknown])[] = [];
  for (const item of items) {
    const isPair = isPlainObject(item) && Object.keys(item).length === 2 && typeof item["key"] === "string";
    if (!isPair || !Object.hasOwn(item, "value")) return undefined;
    entries.push([String(item["key"]), item["value"]]);
  }
  return { value: Object.fromEntries(entries), message: "a list of keys and values, as an object" };
}
