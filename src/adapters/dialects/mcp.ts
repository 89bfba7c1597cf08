import { withoutForeignReferences } from "../../tool/schema/foreign-references.ts";
import { asRecord, asRecords, isPlainObject } from "../../tool/json-schema.ts";
import { fromMcpAnnotations } from "../../tool/normalise/normalise-fields.ts";
import { present } from "../../base/present.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ConvertedSchema } from "../../transcode/convert-schema.ts";
import type { AnsweredCall, StreamingDialect } from "../../transcode/dialect.port.ts";
import { ALL_FEATURES } from "../../transcode/features.ts";
import { below } from "../../transcode/schema/find-reference.ts";
import { createMessageStream, type RawCall, toReadCall } from "./parts/read-call.ts";
import { definitions, type ObjectSchema } from "./parts/definitions.ts";
import { contentOf, type ResultPart } from "./parts/result-content.ts";

/** A tool in the format of `tools/list`. */
export type McpTool = {
  name: string;
  title?: string;
  description: string;
  inputSchema: McpSchema;
  outputSchema?: McpSchema;
  annotations?: McpAnnotations;
  icons?: { src: string; [member: string]: unknown }[];
  _meta?: { [key: string]: unknown };
};

type McpSchema = Omit<ObjectSchema, "properties"> & { type: "object"; properties?: { [name: string]: JsonValue } };

type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

type McpAnnotations = {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
};

/** A result in the format of `tools/call`. */
export type McpToolResult = {
  content: McpBlock[];
  structuredContent?: { [key: string]: unknown };
  isError?: true;
};

type McpBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType: string; blob: string } };

/** The Model Context Protocol: tools as a server lists them, calls as a client sends them, results as a server returns them. */
export function mcpDialect(): StreamingDialect<McpTool, McpToolResult> {
  return {
    ...definitions<McpTool>({
      name: "mcp",
      target: { features: ALL_FEATURES },
      looksLike: '{"name": …, "inputSchema": …}',
      adjust: withoutBooleans,
      holds: (field, { returns }) => field !== "returns" || returns?.type === "object",
      write: ({ name, description, schema, tool }) => ({
        name,
        ...(tool.title !== undefined && { title: tool.title }),
        description: [description, tool.extendedDescription].filter((text) => text !== undefined).join("\n\n"),
        inputSchema: schema as McpSchema,
        ...(tool.returns?.type === "object" && {
          outputSchema: withoutForeignReferences(tool.returns) as McpSchema,
        }),
        ...annotationsOf(tool),
        ...othersOf(givenBy(tool)),
      }),
      read: ({ name, title, description, inputSchema, outputSchema, annotations }) => ({
        name,
        description,
        parameters: inputSchema,
        source: "mcp",
        ...(typeof title === "string" && { title }),
        ...(isPlainObject(outputSchema) && { returns: outputSchema }),
        ...(isPlainObject(annotations) && { annotations: fromMcpAnnotations(annotations) }),
      }),
    }),
    readCalls: (request) => callsOf(request).map(toReadCall),
    writeResults: (answered) => answered.map(toResult),
    readStream: () => createMessageStream(callsOf),
  };
}

type Json = Readonly<Record<string, unknown>>;

function callsOf(request: unknown): readonly RawCall[] {
  return (Array.isArray(request) ? asRecords(request) : [asRecord(request)])
    .filter(({ method = "tools/call", params, name }) => method === "tools/call" && (params ?? name) !== undefined)
    .map(({ id, params, ...rest }) => {
      const { name, arguments: args } = asRecord(params ?? rest);
      return { id: typeof id === "number" ? String(id) : id, name, arguments: args };
    });
}

/** Clients refuse a whole list of tools because of one parameter with the schema `true` or `false`. */
function withoutBooleans(converted: ConvertedSchema): ConvertedSchema {
  const { properties = {} } = converted.schema;
  const booleans = Object.keys(properties).filter((name) => typeof properties[name] === "boolean");
  if (booleans.length === 0) return converted;
  const rewritten = booleans.map((name) => [name, properties[name] === true ? {} : { not: {} }]);
  const losses = booleans.map((name) => ({
    path: below("/properties", name),
    keyword: "properties",
    action: "resolved" as const,
    message: `${String(properties[name])} is written as an object`,
  }));
  return {
    ...converted,
    schema: { ...converted.schema, properties: { ...properties, ...Object.fromEntries(rewritten) } },
    losses: [...converted.losses, ...losses],
  };
}

/** Returns the MCP server's own fields, if the tool came from one. */
function givenBy({ sourceMeta }: Tool): Json {
  const { mcp: raw, dialect, definition } = sourceMeta;
  return asRecord(raw ?? (dialect === "mcp" ? definition : undefined));
}

function annotationsOf(tool: Tool): Pick<McpTool, "annotations"> {
  const { readOnly, destructive, idempotent, openWorld } = tool.annotations;
  const { title } = asRecord(givenBy(tool)["annotations"]);
  const annotations: McpAnnotations = present({
    title: typeof title === "string" ? title : undefined,
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  });
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

function othersOf({ icons, _meta }: Json): Pick<McpTool, "icons" | "_meta"> {
  const shown = asRecords(icons).filter((icon): icon is { readonly src: string } => typeof icon["src"] === "string");
  return {
    ...(shown.length > 0 && { icons: shown.map((icon) => ({ ...icon })) }),
    ...(isPlainObject(_meta) && { _meta }),
  };
}

/** The result of an MCP tool is returned unchanged. */
function toResult(answered: AnsweredCall): McpToolResult {
  const { isError, parts, structured } = contentOf(answered);
  const { content } = asRecord(answered.result.result);
  const isWhole = answered.result.status === "success" && Array.isArray(content);
  return {
    content: isWhole ? (content as McpBlock[]) : parts.map(toBlock),
    ...(isPlainObject(structured) && { structuredContent: structured }),
    ...(isError && { isError }),
  };
}

function toBlock(part: ResultPart): McpBlock {
  if (part.kind === "text") return { type: "text", text: part.text };
  const { mimeType, data, name } = part;
  const [kind] = mimeType.split("/");
  if (kind === "image" || kind === "audio") return { type: kind, data, mimeType };
  return { type: "resource", resource: { uri: name ?? "result:", mimeType, blob: data } };
}

export { mcpDialect as create };
