import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { readParamHeaders, toParamHeaders } from "../../../../mcp/headers.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import type { SourceDraft } from "../../../../tool/draft.ts";
import type { Handler } from "../../../../tool/handler.ts";
import { isPlainObject, type JsonSchema } from "../../../../tool/json-schema.ts";
import { fromMcpAnnotations } from "../../../../tool/normalise/normalise-fields.ts";
import { DEFINITION_LIMITS, measureSchema } from "../../../../tool/schema/schema-limits.ts";
import type { Tool } from "../../../../tool/tool.ts";
import { callOf, sendRequest } from "../connection/send-request.ts";
import { type McpServerSettings, plainAddress } from "../settings.ts";
import type { McpUpstream } from "./upstream.ts";

/** The key of the server's own definition in a tool's `sourceMeta`. */
const RAW = "mcp";

/** Converts a listed tool to a draft. Keeps the whole definition, including members that a draft does not have. */
export function toDraft(tool: JsonObject, { name, namespace, transport }: McpServerSettings): SourceDraft {
  const { annotations } = tool;
  const title = tool["title"] ?? (isPlainObject(annotations) ? annotations["title"] : undefined);
  return {
    name: tool["name"] as string,
    sourceName: tool["name"] as string,
    namespace: namespace ?? name,
    source: "mcp",
    ...(transport.kind !== "stdio" && { sourceUri: plainAddress(transport.url) }),
    ...(typeof title === "string" && { title }),
    description: (tool["description"] ?? null) as string | null,
    parameters: (tool["inputSchema"] ?? null) as JsonSchema | null,
    ...(isPlainObject(tool["outputSchema"]) && { returns: tool["outputSchema"] }),
    annotations: fromMcpAnnotations(annotations),
    sourceMeta: { [RAW]: tool },
  };
}

export function rawToolOf(tool: Tool): JsonObject | undefined {
  const raw = tool.sourceMeta[RAW];
  return tool.source === "mcp" && isPlainObject(raw) ? raw : undefined;
}

/**
 * Returns the reason why a listed tool cannot be used; undefined if it can. `mirrors`: invalid `x-mcp-header` marks make a tool invalid, over HTTP
 * with a modern server.
 */
export function unusableTool(tool: JsonObject, { mirrors }: { readonly mirrors: boolean }): string | undefined {
  // Refused before the definition is hashed, scanned or indexed.
  const { tooLarge } = measureSchema(tool, DEFINITION_LIMITS);
  if (tooLarge !== undefined) return `Its definition ${tooLarge}.`;
  const read = mirrors ? readParamHeaders(tool["inputSchema"]) : { headers: [] };
  return "fault" in read ? read.fault : undefined;
}

/** Creates a handler that calls a tool on its server and returns the result unchanged. */
export function createHandler(tool: JsonObject, upstream: McpUpstream): Handler {
  const marks = readParamHeaders(tool["inputSchema"]);
  const mirrored = "headers" in marks && marks.headers.length > 0 ? marks.headers : undefined;

  return async (args, context) => {
    const { sourceName } = context.tool;
    const headers = mirrored ? { ...callOf(context).headers, ...toParamHeaders(mirrored, args) } : undefined;
    const params = {
      name: sourceName,
      arguments: args,
      ...(needsTask(tool, upstream) && { task: { ttl: TASK_TTL_MS } }),
    };
    const result = await sendRequest(upstream, { method: "tools/call", params, headers, subject: sourceName }, context);
    if (result["isError"] === true) throw toReported(result);
    return result;
  };
}

/** How long a server of 2025-11-25 should keep a task, in milliseconds. */
const TASK_TTL_MS = 3_600_000;

/** True for a tool that its server runs only as a task. Since 2026-07-28, the server decides by itself. */
function needsTask({ execution }: JsonObject, { state }: McpUpstream): boolean {
  const isRequired = isPlainObject(execution) && execution["taskSupport"] === "required";
  return isRequired && state.kind === "connected" && state.era === "legacy";
}

function toReported(result: JsonObject): ArsenalError {
  const content = Array.isArray(result["content"]) ? (result["content"] as readonly unknown[]) : [];
  const texts = content.flatMap((part) =>
    isPlainObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  const message = texts.length > 0 ? texts.join("\n") : "The tool reported an error without a message.";
  return new ArsenalError("EXECUTION_FAILED", message, { answered: true, cause: result });
}
