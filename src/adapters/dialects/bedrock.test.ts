import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, pieces, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { bedrockDialect } from "./bedrock.ts";

const samples: DialectSamples = {
  sendsText: false,
  answer: (calls) => ({
    output: { message: { role: "assistant", content: [{ text: "Looking." }, ...calls.map(toBlock)] } },
    stopReason: "tool_use",
  }),
  stream: (calls) => [
    { messageStart: { role: "assistant" } },
    ...calls.flatMap(({ id, name, arguments: text }, contentBlockIndex) => [
      { contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } } },
      ...pieces(text).map((input) => ({ contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input } } } })),
      { contentBlockStop: { contentBlockIndex } },
    ]),
    { messageStop: { stopReason: "tool_use" } },
  ],
};

describe("bedrock", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: bedrockDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(bedrockDialect().fromCanonical(refundUser())).toEqual({
      toolSpec: {
        name: "billing-refund_user",
        description: "Refunds a payment of a user.",
        inputSchema: { json: PARAMETERS },
      },
    });
  });

  it("marks what is strict", () => {
    const { definition, strict } = bedrockDialect().convert(refundUser(), { strict: true });
    expect(strict).toBe(true);
    expect(definition).toHaveProperty(["toolSpec", "strict"], true);
    expect(definition).toHaveProperty(["toolSpec", "inputSchema", "json", "additionalProperties"], false);
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(bedrockDialect().writeResults(ANSWERED)).toEqual([
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "call_1", status: "success", content: [{ text: "refunded Dana" }] } },
          { toolResult: { toolUseId: "call_2", status: "success", content: [{ json: { refunded: 12.5 } }] } },
          {
            toolResult: {
              toolUseId: "call_3",
              status: "success",
              content: [
                { text: "The receipt." },
                { image: { format: "png", source: { bytes: new Uint8Array([0, 0, 0]) } } },
              ],
            },
          },
          {
            toolResult: {
              toolUseId: "call_4",
              status: "error",
              content: [{ text: expect.stringContaining("Error: The card was refused.") as string }],
            },
          },
        ],
      },
    ]);
  });
});

function toBlock({ id, name, arguments: text }: SampleCall): object {
  return { toolUse: { toolUseId: id, name, input: JSON.parse(text) as unknown } };
}
