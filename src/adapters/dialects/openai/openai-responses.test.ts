import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, pieces, refundUser } from "../../../../test/golden/dialects/answered-calls.ts";
import { openaiResponsesDialect } from "./openai-responses.ts";

const samples: DialectSamples = {
  sendsText: true,
  answer: (calls) => ({
    object: "response",
    output: [{ type: "reasoning", id: "rs_1", summary: [] }, ...calls.map(toItem)],
  }),
  stream: (calls) => [
    { type: "response.created", response: { output: [] } },
    ...calls.flatMap((call, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...toItem(call), arguments: "" } },
      ...pieces(call.arguments).map((delta) => ({
        type: "response.function_call_arguments.delta",
        item_id: `fc_${call.id}`,
        output_index,
        delta,
      })),
      { type: "response.function_call_arguments.done", output_index, arguments: call.arguments },
      { type: "response.output_item.done", output_index, item: toItem(call) },
    ]),
    { type: "response.completed", response: {} },
  ],
};

describe("openai-responses", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: openaiResponsesDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(openaiResponsesDialect().fromCanonical(refundUser())).toEqual({
      type: "function",
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      parameters: PARAMETERS,
      strict: false,
    });
  });

  it("marks what is strict", () => {
    const { definition, strict } = openaiResponsesDialect().convert(refundUser(), { strict: true });
    expect(strict).toBe(true);
    expect(definition).toHaveProperty("strict", true);
    expect(definition).toHaveProperty(["parameters", "additionalProperties"], false);
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(openaiResponsesDialect().writeResults(ANSWERED)).toEqual([
      { type: "function_call_output", call_id: "call_1", output: "refunded Dana" },
      { type: "function_call_output", call_id: "call_2", output: '{"refunded":12.5}' },
      {
        type: "function_call_output",
        call_id: "call_3",
        output: [
          { type: "input_text", text: "The receipt." },
          { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
        ],
      },
      {
        type: "function_call_output",
        call_id: "call_4",
        output: expect.stringContaining("Error: The card was refused.") as string,
      },
    ]);
  });

  it("reads from its deltas a call whose end never came", () => {
    const [call] = samples.stream?.([{ id: "a", name: "ping", arguments: '{"n":1}' }]).slice(0, 3) ?? [];
    const stream = openaiResponsesDialect().readStream?.();
    const events = samples.stream?.([{ id: "a", name: "ping", arguments: '{"n":1}' }]).slice(0, 3) ?? [];
    expect(call).toBeDefined();
    for (const event of events) expect(stream?.push(event)).toEqual([]);
    expect(stream?.end()).toMatchObject([{ id: "a", rawArguments: '{"n', problem: expect.any(String) as string }]);
  });
});

function toItem({ id, name, arguments: text }: SampleCall): object {
  return { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: text, status: "completed" };
}
