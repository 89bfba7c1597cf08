import { Schema } from "effect";
import { RISK_LEVELS, TOOL_SOURCES } from "../tool/tool.ts";

/** One parameter of a tool. */
export const ToolParameterSchema = Schema.Struct({
  name: Schema.String,
  type: Schema.Literals(["string", "number", "boolean", "object", "array"]),
  description: Schema.String,
  required: Schema.Boolean,
  default: Schema.optional(Schema.Unknown),
  enum: Schema.optional(Schema.Array(Schema.String)),
});
export type ToolParameter = typeof ToolParameterSchema.Type;

/** A tool with its parameters as a list. */
export const ToolDefinitionSchema = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  parameters: Schema.Array(ToolParameterSchema),
  returnType: Schema.optional(Schema.String),
  category: Schema.optional(Schema.String),
  riskLevel: Schema.Literals(RISK_LEVELS),
  /** Timeout of one call, in milliseconds. */
  timeoutMs: Schema.Number,
  requiresApproval: Schema.Boolean,
  source: Schema.Literals([...TOOL_SOURCES, "plugin"]),
});
export type ToolDefinition = typeof ToolDefinitionSchema.Type;

/** A request to run a tool. */
export const ToolInputSchema = Schema.Struct({
  toolName: Schema.String,
  arguments: Schema.Record(Schema.String, Schema.Unknown),
  agentId: Schema.String,
  sessionId: Schema.String,
  correlationId: Schema.optional(Schema.String),
  /** The approved confirmation that this call uses. */
  confirmationId: Schema.optional(Schema.String),
  /** The toolset that limits the agent's view. Defaults to the whole catalog. */
  toolset: Schema.optional(Schema.String),
});
export type ToolInput = typeof ToolInputSchema.Type;

/** The output of a tool. */
export const ToolOutputSchema = Schema.Struct({
  toolName: Schema.String,
  success: Schema.Boolean,
  result: Schema.Unknown,
  error: Schema.optional(Schema.String),
  executionTimeMs: Schema.Number,
  metadata: Schema.optional(Schema.Record(Schema.String, Schema.Unknown)),
});
export type ToolOutput = typeof ToolOutputSchema.Type;

/** An MCP server. */
export const MCPServerSchema = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  /** `http` is streamable HTTP, `sse` is the older HTTP+SSE transport. */
  transport: Schema.Literals(["stdio", "http", "sse", "websocket"]),
  /** The address, for http, sse and websocket. */
  endpoint: Schema.optional(Schema.String),
  /** For stdio only. */
  command: Schema.optional(Schema.String),
  args: Schema.optional(Schema.Array(Schema.String)),
  /** Tool names as the server gives them. Run a tool as `server/tool`. */
  tools: Schema.Array(Schema.String),
  status: Schema.Literals(["connected", "disconnected", "error"]),
});
export type MCPServer = typeof MCPServerSchema.Type;

/** How to connect an MCP server. */
export interface MCPServerConfig extends Pick<MCPServer, "name" | "transport" | "endpoint" | "command" | "args"> {
  /** Environment variables of the process, for stdio. */
  readonly env?: Readonly<Record<string, string>>;
  /** HTTP headers sent to the server, for all transports except stdio. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout for connecting, and again for listing, in milliseconds. Defaults to 10,000. */
  readonly connectTimeoutMs?: number;
}

/** A JSON-RPC request of MCP. */
export const MCPRequestSchema = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.Union([Schema.String, Schema.Number]),
  method: Schema.String,
  params: Schema.optional(Schema.Unknown),
});
export type MCPRequest = typeof MCPRequestSchema.Type;

/** A JSON-RPC answer of MCP. */
export const MCPResponseSchema = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.Union([Schema.String, Schema.Number]),
  result: Schema.optional(Schema.Unknown),
  error: Schema.optional(
    Schema.Struct({ code: Schema.Number, message: Schema.String, data: Schema.optional(Schema.Unknown) }),
  ),
});
export type MCPResponse = typeof MCPResponseSchema.Type;

/** A tool in the format of the Anthropic API. */
export const FunctionCallingToolSchema = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  /** JSON Schema of the arguments. */
  input_schema: Schema.Record(Schema.String, Schema.Unknown),
});
export type FunctionCallingTool = typeof FunctionCallingToolSchema.Type;
