import type { JsonObject } from "../../adapters/sources/mcp/protocol.ts";
import { formatResult } from "../../execute/format-result.ts";
import type { ToolResult } from "../../execute/result.ts";

/** A call that the arsenal refused, or whose tool gave no answer, as the tool result a model can read. */
export function refusal(result: ToolResult): JsonObject {
  const { status, error, confirmationId, traceId } = result;
  return {
    content: [{ type: "text", text: formatResult(result) }],
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
