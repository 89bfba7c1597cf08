import { jsonSchema } from "ai";
import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, pieces, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { aiSdkDialect } from "./ai-sdk.ts";

const samples: DialectSamples = {
  sendsText: true,
  answer: (calls) => ({
    content: [{ type: "text", text: "Looking." }, ...calls.map(toCall)],
    finishReason: "tool-calls",
  }),
  stream: (calls) => [
    { type: "stream-start", warnings: [] },
    ...calls.flatMap((call) => [
      { type: "tool-input-start", id: call.id, toolName: call.name },
      ...pieces(call.arguments).map((delta) => ({ type: "tool-input-delta", id: call.id, delta })),
      { type: "tool-input-end", id: call.id },
      toCall(call),
    ]),
    { type: "finish", finishReason: "tool-calls" },
  ],
};

describe("ai-sdk", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: aiSdkDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(aiSdkDialect().fromCanonical(refundUser())).toEqual({
      type: "function",
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      inputSchema: PARAMETERS,
    });
  });

  it("marks what is strict", () => {
    const { definition, strict } = aiSdkDialect().convert(refundUser(), { strict: true });
    expect(strict).toBe(true);
    expect(definition).toHaveProperty("strict", true);
    expect(definition).toHaveProperty(["inputSchema", "additionalProperties"], false);
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(aiSdkDialect().writeResults(ANSWERED)).toEqual([
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call_1",
            toolName: "refund",
            output: { type: "text", value: "refunded Dana" },
          },
          {
            type: "tool-result",
            toolCallId: "call_2",
            toolName: "refund",
            output: { type: "json", value: { refunded: 12.5 } },
          },
          {
            type: "tool-result",
            toolCallId: "call_3",
            toolName: "receipt",
            output: {
              type: "content",
              value: [
                { type: "text", text: "The receipt." },
                { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
              ],
            },
          },
          {
            type: "tool-result",
            toolCallId: "call_4",
            toolName: "refund",
            output: { type: "error-text", value: expect.stringContaining("Error: The card was refused.") as string },
          },
        ],
      },
    ]);
  });

  it("reads what generateText returns, and leaves alone what the provider runs itself", () => {
    const toolCalls = [
      { type: "tool-call", toolCallId: "a", toolName: "ping", input: { n: 1 } },
      { type: "tool-call", toolCallId: "b", toolName: "web_search", input: {}, providerExecuted: true },
    ];
    const ours = [{ id: "a", call: { toolName: "ping", arguments: { n: 1 } } }];
    expect(aiSdkDialect().readCalls({ toolCalls })).toEqual(ours);
    const stream = aiSdkDialect().readStream?.();
    expect(toolCalls.flatMap((part) => stream?.push(part) ?? [])).toEqual(ours);
  });

  it("reads a schema that jsonSchema() wraps", () => {
    const definition = { type: "function", name: "x", inputSchema: jsonSchema({ type: "object", properties: {} }) };
    expect(aiSdkDialect().toCanonical(definition).parameters).toEqual({ type: "object", properties: {} });
  });
});

function toCall({ id, name, arguments: text }: SampleCall): object {
  return { type: "tool-call", toolCallId: id, toolName: name, input: text };
}
