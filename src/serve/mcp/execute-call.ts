import { type McpCallContext, withMcpContext } from "../../adapters/sources/mcp/call-context.ts";
import { RPC, RpcError } from "../../adapters/sources/mcp/protocol.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { ToolCall } from "../../execute/call.ts";
import type { ToolResult } from "../../execute/result.ts";

/** A call's result, and the MCP server's own answer where one came that the result stands on. */
export interface ExecutedCall {
  readonly result: ToolResult;
  readonly answer?: Parameters<NonNullable<McpCallContext["onAnswer"]>>[0];
}

/** Runs a call through an arsenal with what an MCP client's request carries. */
export async function executeCall(
  arsenal: { execute(call: ToolCall): Promise<ToolResult> },
  call: Omit<ToolCall, "auxdata">,
  context: Omit<McpCallContext, "onAnswer">,
): Promise<ExecutedCall> {
  let answer: ExecutedCall["answer"];
  const onAnswer: McpCallContext["onAnswer"] = (given) => void (answer = given);
  const result = await resultOf(arsenal.execute({ ...call, auxdata: withMcpContext({ ...context, onAnswer }) }));
  // An answer to an earlier attempt does not stand where the last one had none.
  const stands = result.error === undefined || result.error.answered === true;
  return answer !== undefined && stands ? { result, answer } : { result };
}

/** The protocol's error for a tool that does not exist. */
export function unknownTool(name: unknown): RpcError {
  return new RpcError({ code: RPC.invalidParams, message: `Unknown tool: ${String(name).slice(0, 200)}` });
}

/** An arsenal may be set to throw what failed; the result is then the cause. */
async function resultOf(executing: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await executing;
  } catch (error) {
    const result = isArsenalError(error) ? (error.cause as ToolResult | undefined) : undefined;
    if (typeof result === "object" && typeof result?.status === "string") return result;
    throw error;
  }
}
