import { isPlainObject } from "../../../tool/json-schema.ts";

/** Returns a tool's result for expressions: the data of an MCP server's response, and any other result unchanged. */
export function stepValue(result: unknown): unknown {
  if (!isPlainObject(result) || !isContent(result["content"])) return result ?? null;
  const { structuredContent, content } = result;
  if (structuredContent !== undefined && structuredContent !== null) return structuredContent;
  const texts = content.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  if (texts.length !== content.length) return content;
  const [only] = texts;
  return texts.length === 1 && only !== undefined ? fromJson(only) : texts.join("\n");
}

function isContent(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every((part) => isPlainObject(part) && typeof part["type"] === "string");
}

/** Parses a text that contains a JSON object or list. */
function fromJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
