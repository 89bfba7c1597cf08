import { DEFINITION_LIMITS, measureSchema } from "../../../../tool/schema/schema-limits.ts";
import { readParamHeaders } from "../../../../mcp/param-headers.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";

/**
 * Why a tool that a server lists cannot be used; undefined if it can. An oversized definition is refused before anything reads, hashes, scans
 * or indexes it. `mirrors` is true over HTTP with a modern server, where wrong `x-mcp-header` marks make a tool invalid.
 */
export function unusableTool(tool: JsonObject, { mirrors }: { readonly mirrors: boolean }): string | undefined {
  const { tooLarge } = measureSchema(tool, DEFINITION_LIMITS);
  if (tooLarge !== undefined) return `Its definition ${tooLarge}.`;
  const read = mirrors ? readParamHeaders(tool["inputSchema"]) : { headers: [] };
  return "fault" in read ? read.fault : undefined;
}
