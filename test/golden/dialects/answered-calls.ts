import type { ToolResult } from "../../../src/execute/result.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import type { Tool } from "../../../src/tool/tool.ts";
import type { AnsweredCall } from "../../../src/transcode/dialect.port.ts";

/** The parameters of `refundUser`. */
export const PARAMETERS = { type: "object", properties: { user: { type: "string" } }, required: ["user"] } as const;

/** A tool outside the default namespace, so that its alias is not its name. */
export function refundUser(): Tool {
  return defineTool({
    name: "refund_user",
    namespace: "billing",
    description: "Refunds a payment of a user.",
    parameters: PARAMETERS,
  });
}

/** Four calls that ended in text, data, an image and an error. */
export const ANSWERED: readonly AnsweredCall[] = [
  answered("call_1", "refund", { result: "refunded Dana" }),
  answered("call_2", "refund", { result: { refunded: 12.5 } }),
  answered("call_3", "receipt", {
    result: {
      content: [
        { type: "text", text: "The receipt." },
        { type: "image", mimeType: "image/png", data: "AAAA" },
      ],
    },
  }),
  answered("call_4", "refund", {
    status: "failure",
    error: { code: "EXECUTION_FAILED", message: "The card was refused." },
  }),
];

/** A text in pieces of three characters, as a stream has it. */
export function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,3}/g) ?? [];
}

function answered(id: string, toolName: string, outcome: Partial<ToolResult>): AnsweredCall {
  const times = { queuedAt: 0, completedAt: 5, latencyMs: 5, attempts: 1, traceId: "t", spanId: "s" };
  return {
    read: { id, call: { toolName, arguments: { user: "Dana" } } },
    result: { toolName, status: "success", ...times, ...outcome },
  };
}
