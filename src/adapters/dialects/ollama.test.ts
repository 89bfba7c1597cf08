import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { ollamaDialect } from "./ollama.ts";

const samples: DialectSamples = {
  sendsText: false,
  hasIds: false,
  answer: (calls) => ({
    model: "qwen3",
    message: { role: "assistant", content: "", tool_calls: calls.map(toCall) },
    done: true,
  }),
  stream: (calls) => [
    { message: { role: "assistant", content: "Looking." }, done: false },
    ...calls.map((call) => ({ message: { role: "assistant", content: "", tool_calls: [toCall(call)] }, done: false })),
    { message: { role: "assistant", content: "" }, done: true },
  ],
};

describe("ollama", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: ollamaDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(ollamaDialect().fromCanonical(refundUser())).toEqual({
      type: "function",
      function: { name: "billing-refund_user", description: "Refunds a payment of a user.", parameters: PARAMETERS },
    });
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(ollamaDialect().writeResults(ANSWERED)).toEqual([
      { role: "tool", tool_name: "refund", content: "refunded Dana", tool_call_id: "call_1" },
      { role: "tool", tool_name: "refund", content: '{"refunded":12.5}', tool_call_id: "call_2" },
      { role: "tool", tool_name: "receipt", content: "The receipt.", tool_call_id: "call_3", images: ["AAAA"] },
      {
        role: "tool",
        tool_name: "refund",
        content: expect.stringContaining("Error: The card was refused.") as string,
        tool_call_id: "call_4",
      },
    ]);
  });

  it("keeps made-up ids to itself, and gives back the ids of newer servers", () => {
    const [old] = ollamaDialect().readCalls({
      message: { tool_calls: [{ function: { name: "ping", arguments: {} } }] },
    });
    const [current] = ollamaDialect().readCalls({
      message: { tool_calls: [{ id: "x", function: { name: "ping", arguments: {} } }] },
    });
    const [answer] = ANSWERED;
    if (old === undefined || current === undefined || answer === undefined) throw new Error("unreachable");
    const ids = ollamaDialect().writeResults([
      { ...answer, read: old },
      { ...answer, read: current },
    ]);
    expect(ids.map(({ tool_call_id }) => tool_call_id)).toEqual([undefined, "x"]);
  });
});

function toCall({ name, arguments: text }: SampleCall): object {
  return { function: { name, arguments: JSON.parse(text) as unknown } };
}
