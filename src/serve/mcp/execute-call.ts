import type { McpRequest, McpRequestParts } from "../../mcp/mcp-request.ts";
import { type JsonObject, RPC, RpcError, type RpcErrorBody } from "../../mcp/protocol.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { ToolCall } from "../../execute/call.ts";
import type { ToolResult } from "../../execute/result.ts";

/** Runs a call through an arsenal with what an MCP client's request carries. */
export function executeCall(
  arsenal: { execute(call: ToolCall): Promise<ToolResult> },
  call: Omit<ToolCall, "request">,
  parts: McpRequestParts,
): Promise<ToolResult> {
  const request: McpRequest = { ...parts, source: "mcp" };
  return resultOf(arsenal.execute({ ...call, request }));
}

/** The MCP server's own answer that a result carries; undefined if it carries none. Throws if the server answered with an error. */
export function answerOf({ answer }: ToolResult): JsonObject | undefined {
  if (answer === undefined) return undefined;
  if ("error" in answer) throw new RpcError(answer.error as RpcErrorBody);
  return answer.result as JsonObject;
}

/** The protocol's error for a tool that does not exist; `note` is added to its message. */
export function unknownTool(name: unknown, note = ""): RpcError {
  const message = `Unknown tool: ${String(name).slice(0, 200)}${note === "" ? "" : `. ${note}`}`;
  return new RpcError({ code: RPC.invalidParams, message });
}

/** An arsenal can be configured to throw failed results. The result is then the cause. */
async function resultOf(executing: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await executing;
  } catch (error) {
    const result = isArsenalError(error) ? (error.cause as ToolResult | undefined) : undefined;
    if (typeof result === "object" && typeof result?.status === "string") return result;
    throw error;
  }
}
