import { isArsenalError } from "../../../../errors/arsenal-error.ts";
import type { ToolResult } from "../../../../execute/result.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import type { CodeResult } from "../../../../programs/code-mode.ts";
import {
  answerCodeTool,
  codeOf,
  type CodeToolText,
  readProgram,
  toRunContent,
  toRunText,
} from "../../../meta-tools/code-tools.ts";
import { runForClient } from "../../client-call.ts";
import type { Exchange } from "../../plane.ts";
import type { AnswerParts } from "../upstream-request.ts";

export async function callCodeTool(name: string, exchange: Exchange, parts: AnswerParts): Promise<JsonObject> {
  const { params, peer, signal, trace } = exchange;
  const { arsenal, startup } = parts;
  const { principal } = peer;
  const code = await codeOf(arsenal);
  if (name !== "run") {
    const caller = { principal, signal, ...(trace && { trace }) };
    return toText(
      await answerCodeTool(name as "search" | "describe", params["arguments"], caller, { arsenal, startup, code }),
    );
  }
  const program = readProgram(params["arguments"]);
  if (!("code" in program)) return toText(program);
  await startup.wait(signal);
  let ran: CodeResult | undefined;
  // The person at the client can answer the approval that the program waits for. The same program then continues.
  const execute = async (): Promise<ToolResult> => {
    ran = await code.run({ ...program, principal, signal, ...trace });
    return toToolResult(ran);
  };
  const server = { execute, approvals: arsenal.approvals };
  const result = await runForClient(exchange, server, { toolName: "run" }, { extra: {}, canBeAsked: false }).catch(
    refusedProgram,
  );
  if ("text" in result) return toText(result);
  // A modern client's answer may reach a process that did not run the program, so the request state contains the pending result.
  return toRunAnswer(ran ?? (result.result as CodeResult));
}

/** Returns a program's refusal before its start as text for the model, because clients hide protocol errors from the model. */
function refusedProgram(error: unknown): CodeToolText {
  if (isArsenalError(error) && error.code === "INPUT_INVALID") return { text: error.message, isError: true };
  throw error;
}

function toText({ text, isError }: CodeToolText): JsonObject {
  return { content: [{ type: "text", text }], ...(isError && { isError }) };
}

function toRunAnswer(result: CodeResult): JsonObject {
  const { status, confirmationId, traceId, error } = result;
  const failed = status !== "success" && {
    isError: true,
    _meta: {
      "toolarsenal/error": { status, traceId, message: error?.message, ...(confirmationId && { confirmationId }) },
    },
  };
  return {
    content: [{ type: "text", text: toRunText(result) }],
    structuredContent: toRunContent(result),
    ...failed,
  };
}

function toToolResult(result: CodeResult): ToolResult {
  const { status, confirmationId, traceId, error } = result;
  return {
    toolName: "run",
    status,
    result,
    ...(error && { error: { code: "EXECUTION_FAILED", message: error.message } }),
    ...(confirmationId !== undefined && { confirmationId }),
    queuedAt: 0,
    completedAt: 0,
    latencyMs: 0,
    attempts: 1,
    traceId,
    spanId: "",
  };
}
