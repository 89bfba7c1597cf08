import type { SourceDraft } from "../../../../tool/draft.ts";
import { isPlainObject, type JsonSchema } from "../../../../tool/json-schema.ts";
import { fromMcpAnnotations } from "../../../../tool/normalise/mcp-annotations.ts";
import type { Tool } from "../../../../tool/tool.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import type { McpServerSettings } from "../settings.ts";

/** Where the source's own definition is kept among what a tool's source said. */
const RAW = "mcp";

/** A draft of a tool as a server lists it. Whatever it says beyond our fields is in the definition that is kept whole. */
export function toDraft(tool: JsonObject, { name, namespace, transport }: McpServerSettings): SourceDraft {
  const { annotations } = tool;
  const title = tool["title"] ?? (isPlainObject(annotations) ? annotations["title"] : undefined);
  return {
    name: tool["name"] as string,
    sourceName: tool["name"] as string,
    namespace: namespace ?? name,
    source: "mcp",
    ...(transport.kind === "stdio" ? {} : { sourceUri: withoutSecrets(transport.url) }),
    ...(typeof title === "string" ? { title } : {}),
    description: (tool["description"] ?? null) as string | null,
    parameters: (tool["inputSchema"] ?? null) as JsonSchema | null,
    ...(isPlainObject(tool["outputSchema"]) ? { returns: tool["outputSchema"] } : {}),
    annotations: fromMcpAnnotations(annotations),
    sourceMeta: { [RAW]: tool },
  };
}

/** A tool's definition as its MCP server gave it, whole. */
export function rawToolOf(tool: Tool): JsonObject | undefined {
  const raw = tool.sourceMeta[RAW];
  return tool.source === "mcp" && isPlainObject(raw) ? raw : undefined;
}

/** Addresses carry keys in their query, and tools are shown to people. */
function withoutSecrets(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  return `${url.protocol}//${url.host}${url.pathname}`;
}
