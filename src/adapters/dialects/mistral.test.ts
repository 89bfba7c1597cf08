import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { mistralDialect } from "./mistral.ts";

const samples: DialectSamples = {
  sendsText: true,
  answer: (calls) => ({
    choices: [
      {
        index: 0,
        finishReason: "tool_calls",
        message: { role: "assistant", content: "", toolCalls: calls.map(toCall) },
      },
    ],
  }),
  stream: (calls) => [
    { data: { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finishReason: null }] } },
    {
      data: {
        choices: [
          {
            index: 0,
            delta: { toolCalls: calls.map((call, index) => ({ ...toCall(call), index })) },
            finishReason: "tool_calls",
          },
        ],
      },
    },
  ],
};

describe("mistral", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: mistralDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(mistralDialect().fromCanonical(refundUser())).toEqual({
      type: "function",
      function: { name: "billing-refund_user", description: "Refunds a payment of a user.", parameters: PARAMETERS },
    });
  });

  it("marks what is strict", () => {
    const { definition, strict } = mistralDialect().convert(refundUser(), { strict: true });
    expect(strict).toBe(true);
    expect(definition).toHaveProperty(["function", "strict"], true);
    expect(definition).toHaveProperty(["function", "parameters", "additionalProperties"], false);
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(mistralDialect().writeResults(ANSWERED)).toEqual([
      { role: "tool", name: "refund", content: "refunded Dana", toolCallId: "call_1" },
      { role: "tool", name: "refund", content: '{"refunded":12.5}', toolCallId: "call_2" },
      {
        role: "tool",
        name: "receipt",
        content: [
          { type: "text", text: "The receipt." },
          { type: "image_url", imageUrl: "data:image/png;base64,AAAA" },
        ],
        toolCallId: "call_3",
      },
      {
        role: "tool",
        name: "refund",
        content: expect.stringContaining("Error: The card was refused.") as string,
        toolCallId: "call_4",
      },
    ]);
  });

  it("writes as HTTP takes it where that is asked for, and reads it so", () => {
    expect(mistralDialect({ spelling: "wire" }).writeResults(ANSWERED.slice(2, 3))).toEqual([
      {
        role: "tool",
        name: "receipt",
        content: [
          { type: "text", text: "The receipt." },
          { type: "image_url", image_url: "data:image/png;base64,AAAA" },
        ],
        tool_call_id: "call_3",
      },
    ]);
    const message = { tool_calls: [{ id: "a", function: { name: "ping", arguments: { n: 1 } } }] };
    expect(mistralDialect().readCalls({ choices: [{ message }] })).toEqual([
      { id: "a", call: { toolName: "ping", arguments: { n: 1 } } },
    ]);
  });
});

function toCall({ id, name, arguments: text }: SampleCall): object {
  return { id, type: "function", function: { name, arguments: text } };
}
