import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, pieces, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { anthropicDialect } from "./anthropic.ts";

const samples: DialectSamples = {
  sendsText: false,
  answer: (calls) => ({
    type: "message",
    role: "assistant",
    stop_reason: "tool_use",
    content: [{ type: "text", text: "I will look." }, ...calls.map(toBlock)],
  }),
  stream: (calls) => [
    { type: "message_start", message: { content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I will look." } },
    { type: "content_block_stop", index: 0 },
    ...calls.flatMap((call, position) => [
      { type: "content_block_start", index: position + 1, content_block: { ...toBlock(call), input: {} } },
      ...pieces(call.arguments).map((partial_json) => ({
        type: "content_block_delta",
        index: position + 1,
        delta: { type: "input_json_delta", partial_json },
      })),
      { type: "content_block_stop", index: position + 1 },
    ]),
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ],
};

describe("anthropic", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: anthropicDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(anthropicDialect().fromCanonical(refundUser())).toEqual({
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      input_schema: PARAMETERS,
    });
  });

  it("marks what is strict [003-adapter-anthropic]", () => {
    const { definition, strict } = anthropicDialect().convert(refundUser(), { strict: true });
    expect(strict).toBe(true);
    expect(definition).toHaveProperty("strict", true);
    expect(definition).toHaveProperty(["input_schema", "additionalProperties"], false);
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(anthropicDialect().writeResults(ANSWERED)).toEqual([
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "refunded Dana" },
          { type: "tool_result", tool_use_id: "call_2", content: '{"refunded":12.5}' },
          {
            type: "tool_result",
            tool_use_id: "call_3",
            content: [
              { type: "text", text: "The receipt." },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
            ],
          },
          {
            type: "tool_result",
            tool_use_id: "call_4",
            content: expect.stringContaining("Error: The card was refused.") as string,
            is_error: true,
          },
        ],
      },
    ]);
  });

  it("tells of a call that was cut off, and leaves the server's own tools alone", () => {
    const stream = anthropicDialect().readStream?.();
    const start = { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "ping" } };
    const delta = { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"ci' } };
    expect([stream?.push(start), stream?.push(delta)]).toEqual([[], []]);
    expect(stream?.end()).toMatchObject([{ id: "a", rawArguments: '{"ci', problem: expect.any(String) as string }]);
    const search = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    expect(anthropicDialect().readCalls({ content: [search] })).toEqual([]);
  });
});

function toBlock({ id, name, arguments: text }: SampleCall): object {
  return { type: "tool_use", id, name, input: JSON.parse(text) as unknown };
}
