import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, pieces, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { cohereDialect } from "./cohere.ts";

const samples: DialectSamples = {
  sendsText: true,
  answer: (calls) => ({ finishReason: "TOOL_CALL", message: { role: "assistant", toolCalls: calls.map(toCall) } }),
  stream: (calls) => [
    { type: "message-start", delta: { message: { role: "assistant" } } },
    { type: "tool-plan-delta", delta: { message: { toolPlan: "I will look." } } },
    ...calls.flatMap((call, index) => [
      {
        type: "tool-call-start",
        index,
        delta: {
          message: { toolCalls: { id: call.id, type: "function", function: { name: call.name, arguments: "" } } },
        },
      },
      ...pieces(call.arguments).map((piece) => ({
        type: "tool-call-delta",
        index,
        delta: { message: { toolCalls: { function: { arguments: piece } } } },
      })),
      { type: "tool-call-end", index },
    ]),
    { type: "message-end", delta: { finishReason: "TOOL_CALL" } },
  ],
};

describe("cohere", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: cohereDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(cohereDialect().fromCanonical(refundUser())).toEqual({
      type: "function",
      function: { name: "billing-refund_user", description: "Refunds a payment of a user.", parameters: PARAMETERS },
    });
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(cohereDialect().writeResults(ANSWERED)).toEqual([
      {
        role: "tool",
        content: [{ type: "document", document: { data: { output: "refunded Dana" } } }],
        toolCallId: "call_1",
      },
      {
        role: "tool",
        content: [{ type: "document", document: { data: { output: '{"refunded":12.5}' } } }],
        toolCallId: "call_2",
      },
      {
        role: "tool",
        content: [
          {
            type: "document",
            document: { data: { output: "The receipt.\n\n[image/png, 3 bytes, cannot be shown here]" } },
          },
        ],
        toolCallId: "call_3",
      },
      {
        role: "tool",
        content: [
          {
            type: "document",
            document: { data: { error: expect.stringContaining("Error: The card was refused.") as string } },
          },
        ],
        toolCallId: "call_4",
      },
    ]);
  });

  it("writes as HTTP takes it where that is asked for, and reads it so", () => {
    expect(cohereDialect({ spelling: "wire" }).writeResults(ANSWERED.slice(0, 1))).toEqual([
      {
        role: "tool",
        content: [{ type: "document", document: { data: { output: "refunded Dana" } } }],
        tool_call_id: "call_1",
      },
    ]);
    const message = { tool_calls: [{ id: "a", type: "function", function: { name: "ping", arguments: '{"n":1}' } }] };
    expect(cohereDialect().readCalls({ finish_reason: "TOOL_CALL", message })).toMatchObject([
      { id: "a", call: { arguments: { n: 1 } } },
    ]);
  });
});

function toCall({ id, name, arguments: text }: SampleCall): object {
  return { id, type: "function", function: { name, arguments: text } };
}
