import { type McpCallContext, withMcpContext } from "../../adapters/sources/mcp/call-context.ts";
import { type JsonObject, RPC, RpcError } from "../../adapters/sources/mcp/protocol.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { ToolCall } from "../../execute/call.ts";
import type { ToolResult } from "../../execute/result.ts";
import { isPlainObject } from "../../tool/json-schema.ts";

/** A call's result, and the MCP server's own answer, as the guard lets it be given on, where one came that the result stands on. */
export interface ExecutedCall {
  readonly result: ToolResult;
  readonly answer?: Answer;
}

type Answer = Parameters<NonNullable<McpCallContext["onAnswer"]>>[0];

/** Runs a call through an arsenal with what an MCP client's request carries. */
export async function executeCall(
  arsenal: { execute(call: ToolCall): Promise<ToolResult> },
  call: Omit<ToolCall, "auxdata">,
  context: Omit<McpCallContext, "onAnswer">,
): Promise<ExecutedCall> {
  let answer: Answer | undefined;
  const onAnswer: McpCallContext["onAnswer"] = (given) => void (answer = given);
  const result = await resultOf(arsenal.execute({ ...call, auxdata: withMcpContext({ ...context, onAnswer }) }));
  const standing = answer === undefined ? undefined : toStanding(answer, result);
  return standing === undefined ? { result } : { result, answer: standing };
}

/**
 * The answer that the result stands on. An error's is the server's own as long as the result says that it is: not where the last attempt had
 * none, nor where the guard changed it. Otherwise it is the result, which is the server's own unless the guard changed it.
 */
function toStanding(answer: Answer, { error, result }: ToolResult): Answer | undefined {
  if (error !== undefined) return error.answered === true ? answer : undefined;
  if ("error" in answer || result === answer.result) return answer;
  return isPlainObject(result) && keepsForm(result, answer.result) ? { result } : undefined;
}

/** What takes the content out of an answer leaves none that a client can read. */
function keepsForm(changed: JsonObject, given: JsonObject): boolean {
  return ["content", "contents", "messages"].every((key) => Array.isArray(changed[key]) === Array.isArray(given[key]));
}

/** The protocol's error for a tool that does not exist; `note` is added to its message. */
export function unknownTool(name: unknown, note = ""): RpcError {
  const message = `Unknown tool: ${String(name).slice(0, 200)}${note === "" ? "" : `. ${note}`}`;
  return new RpcError({ code: RPC.invalidParams, message });
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
