import { formatResult } from "../../execute/results/format-result.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { Era, JsonObject } from "../../mcp/protocol.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { writeData } from "../../tool/schema/plain-data.ts";
import type { Tool } from "../../tool/tool.ts";

/** Converts a refused or failed call to a tool result that a model can read. Appends `note` to its text. */
export function refusal(result: ToolResult, note = ""): JsonObject {
  const { status, error, confirmationId, traceId } = result;
  return {
    content: [{ type: "text", text: [formatResult(result), note].filter((text) => text !== "").join("\n") }],
    isError: true,
    _meta: {
      "toolarsenal/error": {
        status,
        traceId,
        ...(error && { code: error.code, message: error.message }),
        ...(error?.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
        ...(confirmationId !== undefined && { confirmationId }),
      },
    },
  };
}

const BLOCKS: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

/**
 * If a tool declares no output, its result is sent twice, as text and as data, up to this length in characters. A longer result is sent only as text.
 */
const MOST_TWICE = 1024 * 1024;

/**
 * Converts the output of a tool that is not from an MCP server to the result of `tools/call`. A value that already is such a result is not changed.
 */
export function toCallResult(value: unknown, tool: Pick<Tool, "returns"> | undefined, era: Era): JsonObject {
  if (isCallResult(value)) return value;
  const written = typeof value === "string" ? { text: value, data: value } : writeData(value);
  if (written === undefined)
    return { content: [{ type: "text", text: value === undefined ? "(nothing)" : String(value) }] };
  const { text, data } = written;
  // Older clients accept only objects as structured content. A value that JSON writes as a string, such as a date, is not an object.
  const isObject = typeof value === "object" && text.startsWith("{");
  const isDeclared = tool?.returns !== undefined;
  const isStructured = isObject ? isDeclared || text.length <= MOST_TWICE : era === "modern" && isDeclared;
  return { content: [{ type: "text", text }], ...(isStructured && { structuredContent: data }) };
}

function isCallResult(value: unknown): value is JsonObject {
  if (!isPlainObject(value) || !Array.isArray(value["content"]) || value["content"].length === 0) return false;
  return value["content"].every((block) => isPlainObject(block) && BLOCKS.has(block["type"]));
}
