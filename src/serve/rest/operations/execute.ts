import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { ToolCall } from "../../../execute/call.ts";
import type { ToolResult } from "../../../execute/result.ts";
import type { Progress } from "../../../tool/handler.ts";
import { createEventQueue } from "../../events/event-queue.ts";
import { resultOf } from "../../result-of.ts";
import { type RestResponse, type Operation, operationsOf, type ServerSentEvent } from "../operation.ts";
import { BATCH_CALL, BATCH_RESULT, PROGRESS, TOOL_CALL, TOOL_RESULT } from "../schemas/call.ts";

const operation = operationsOf({ tag: "Execute" });

export const executeOperations: readonly Operation[] = [
  operation("execute", "POST /execute", {
    summary: "Run a tool",
    description:
      "Responds with 200 and the result if the tool ran, even if it failed; with 202 if a person must approve the call; and with a problem document if the call was refused before it ran. The problem has the whole result as `result`. With `Accept: text/event-stream`, progress is streamed and the last event is the result.",
    needsTools: true,
    maxBytes: 4 * 1024 * 1024,
    body: TOOL_CALL,
    headers: {
      "Idempotency-Key":
        "Your unique key for this call. Repeating the call with the same key returns the first result without running the tool again.",
    },
    examples: { invoice: { toolName: "billing.get_invoice", arguments: { invoiceId: "INV-1042" } } },
    answers: {
      200: {
        description: "The call ran. Check `status`: the tool may have failed.",
        schema: TOOL_RESULT,
        events: { progress: PROGRESS, result: TOOL_RESULT },
      },
      202: { description: "The call waits for approval.", schema: TOOL_RESULT },
    },
    problems: [
      ...(["CALL_INVALID", "ARGUMENTS_INVALID", "TOOL_NOT_FOUND", "TOOLSET_NOT_FOUND", "HANDLER_MISSING"] as const),
      ...(["APPROVAL_INVALID", "IDEMPOTENCY_CONFLICT", "RATE_LIMITED", "QUOTA_EXCEEDED", "CIRCUIT_OPEN"] as const),
      ...(["CANCELLED", "TRANSPORT_FAILED", "AUDIT_FAILED"] as const),
    ],
    async run({ body, header, trace, principal, signal, wantsEvents }, { arsenal }) {
      const idempotencyKey = keyOf(header("idempotency-key"), body.idempotencyKey);
      const call: ToolCall = {
        ...(body.traceId === undefined && trace),
        ...body,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        principal,
        signal,
      };
      if (!wantsEvents) return answerOf(await resultOf(arsenal.execute(call)));
      return { events: streamed((onProgress) => resultOf(arsenal.execute({ ...call, onProgress }))) };
    },
  }),
  operation("executeBatch", "POST /batch", {
    summary: "Run several calls",
    description: "Always responds with 200 if the batch itself is valid. The outcome of each call is in its result.",
    needsTools: true,
    maxBytes: 8 * 1024 * 1024,
    body: BATCH_CALL,
    examples: { two: { calls: [{ toolName: "billing.get_invoice", arguments: { invoiceId: "INV-1042" } }] } },
    answers: { 200: { description: "The results, in the order of the calls.", schema: BATCH_RESULT } },
    problems: ["CALL_INVALID"],
    async run({ body, trace, principal, signal }, { arsenal }) {
      const calls = body.calls.map((call) => ({
        ...(call.traceId === undefined && trace),
        ...call,
        principal,
      }));
      return { body: await arsenal.executeBatch({ ...body, calls, signal }) };
    },
  }),
];

function keyOf(header: string | undefined, member: string | undefined): string | undefined {
  if (header === undefined || member === undefined || header === member) return header ?? member;
  const problem = "The header Idempotency-Key and the member idempotencyKey differ.";
  throw fixable("INPUT_INVALID", problem, "Send one of them.", { field: "idempotencyKey", value: member });
}

/** Returns the response to a call. A call that was refused before it ran is a problem; any other result is an answer. */
function answerOf(result: ToolResult): RestResponse {
  const { status, attempts, error } = result;
  if (status === "pending_confirmation") return { status: 202, body: result };
  if (status === "success" || attempts > 0 || error === undefined) return { body: result };
  const { code, message, ...details } = error;
  // The caller's own time limit ended the call, not the tool's.
  const own = code === "TIMEOUT" ? { status: 408 } : {};
  return { refused: new ArsenalError(code, message, details), ...own, result };
}

/** Yields progress while the call runs, and the result at the end. A slow reader may miss progress, but never the result. */
async function* streamed(
  run: (onProgress: (update: Progress) => void) => Promise<ToolResult>,
): AsyncGenerator<ServerSentEvent> {
  const updates = createEventQueue<Progress>({ most: MOST_WAITING });
  const running = run(updates.push);
  running.then(updates.end, updates.end);
  for await (const data of updates.events()) yield { event: "progress", data };
  yield { event: "result", data: await running };
}

const MOST_WAITING = 1000;
