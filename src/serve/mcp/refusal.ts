import type { JsonObject } from "../../mcp/protocol.ts";
import { formatResult } from "../../execute/results/format-result.ts";
import type { ToolResult } from "../../execute/result.ts";

/** A call that the arsenal refused, or whose tool gave no answer, as a tool result that a model can read; `note` is added to its text. */
export function refusal(result: ToolResult, note = ""): JsonObject {
  const { status, error, confirmationId, traceId } = result;
  return {
    content: [{ type: "text", text: [formatResult(result), note].filter((text) => text !== "").join("\n") }],
    isError: true,
    _meta: {
      "toolarsenal/error": {
        status,
        traceId,
        ...(error === undefined ? {} : { code: error.code, message: error.message }),
        ...(error?.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
        ...(confirmationId === undefined ? {} : { confirmationId }),
      },
    },
  };
}
