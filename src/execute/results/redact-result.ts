import type { Redaction } from "../../guard/policy.port.ts";
import { isPlainObject } from "../../tool/json-schema.ts";

/** Texts that hold JSON that holds texts that hold JSON, and so on. */
const MAX_LAYERS = 4;

/** Deeper values are made plain by writing them out. */
const MAX_DEPTH = 100;

/**
 * A result without what the redactions take out; the same value if that is nothing. A path counts from the top of the result, of an MCP
 * result's structured content, and of every text that is JSON. What is not plain data is made plain first. Throws if that cannot be done.
 */
export function redactResult(value: unknown, redactions: readonly Redaction[] = []): unknown {
  if (redactions.length === 0) return value;
  return redactions.reduce((redacted, redaction) => redact(redacted, redaction, 0), toPlain(value));
}

function redact(value: unknown, redaction: Redaction, layer: number): unknown {
  return withinTexts(redaction.apply(value), redaction, layer);
}

function withinTexts(value: unknown, redaction: Redaction, layer: number): unknown {
  if (typeof value === "string") return redactJson(value, redaction, layer);
  if (Array.isArray(value)) {
    const changed = value.map((member) => withinTexts(member, redaction, layer));
    return changed.some((member, index) => member !== value[index]) ? changed : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const changed = entries.map(([key, member]): [string, unknown] => {
    const isTop = key === "structuredContent" && layer < MAX_LAYERS;
    return [key, isTop ? redact(member, redaction, layer + 1) : withinTexts(member, redaction, layer)];
  });
  return changed.some(([, member], index) => member !== entries[index]?.[1]) ? Object.fromEntries(changed) : value;
}

function redactJson(text: string, redaction: Redaction, layer: number): string {
  if (layer >= MAX_LAYERS || !/^\s*[[{]/.test(text)) return text;
  let held: unknown;
  try {
    held = JSON.parse(text);
  } catch {
    return text;
  }
  const redacted = redact(held, redaction, layer + 1);
  return redacted === held ? text : JSON.stringify(redacted);
}

/** The value as plain JSON data: itself if it is. */
function toPlain(value: unknown): unknown {
  if (isPlainData(value, 0)) return value;
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}

function isPlainData(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((member) => isPlainData(member, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== null && prototype !== Object.prototype) || "toJSON" in value) return false;
  return Object.values(value).every((member) => isPlainData(member, depth + 1));
}
