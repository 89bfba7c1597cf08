import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, pieces, refundUser } from "../../../../test/golden/dialects/answered-calls.ts";
import { openaiDialect } from "./openai.ts";

const samples: DialectSamples = {
  sendsText: true,
  answer: (calls) => ({
    object: "chat.completion",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: { role: "assistant", content: null, tool_calls: calls.map(toCall) },
      },
    ],
  }),
  stream: (calls) => [
    {
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { role: "assistant", content: null }, finish_reason: null }],
    },
    ...calls.flatMap(({ id, name, arguments: text }, index) => [
      chunk({ index, id, type: "function", function: { name, arguments: "" } }),
      ...pieces(text).map((piece) => chunk({ index, function: { arguments: piece } })),
    ]),
    { object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    { object: "chat.completion.chunk", choices: [], usage: { total_tokens: 9 } },
  ],
};

describe("openai", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: openaiDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(openaiDialect().fromCanonical(refundUser())).toEqual({
      type: "function",
      function: { name: "billing-refund_user", description: "Refunds a payment of a user.", parameters: PARAMETERS },
    });
  });

  it("marks what is strict [000-4.1-openai-strict] [003-adapter-openai]", () => {
    const { definition, strict } = openaiDialect().convert(refundUser(), { strict: true });
    expect(strict).toBe(true);
    expect(definition).toHaveProperty(["function", "strict"], true);
    expect(definition).toHaveProperty(["function", "parameters", "additionalProperties"], false);
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(openaiDialect().writeResults(ANSWERED)).toEqual([
      { role: "tool", tool_call_id: "call_1", content: "refunded Dana" },
      { role: "tool", tool_call_id: "call_2", content: '{"refunded":12.5}' },
      { role: "tool", tool_call_id: "call_3", content: "The receipt.\n\n[image/png, 3 bytes, cannot be shown here]" },
      {
        role: "tool",
        tool_call_id: "call_4",
        content: expect.stringContaining("Error: The card was refused.") as string,
      },
    ]);
  });

  it("tells calls apart by their ids where a server sends no index, or always the same", () => {
    for (const index of [undefined, 0]) {
      const stream = openaiDialect().readStream?.();
      const events = [
        chunk({ index, id: "a", function: { name: "first", arguments: '{"n":' } }),
        chunk({ index, function: { arguments: "1}" } }),
        chunk({ index, id: "b", function: { name: "second", arguments: '{"n":2}' } }),
      ];
      const read = [...events.flatMap((event) => stream?.push(event) ?? []), ...(stream?.end() ?? [])];
      expect(read.map(({ id, call }) => [id, call.toolName, call.arguments])).toEqual([
        ["a", "first", { n: 1 }],
        ["b", "second", { n: 2 }],
      ]);
    }
  });

  it("reads the function_call of older models, whole or streamed, and answers it by name [004-agent-detect]", () => {
    const function_call = { name: "refund", arguments: '{"user":"Dana"}' };
    const read = openaiDialect().readCalls({
      choices: [{ message: { role: "assistant", content: null, function_call } }],
    });
    expect(read).toMatchObject([{ idMadeUp: true, call: { toolName: "refund", arguments: { user: "Dana" } } }]);
    const stream = openaiDialect().readStream?.();
    const deltas = [{ name: "refund", arguments: "" }, { arguments: '{"user":' }, { arguments: '"Dana"}' }];
    for (const delta of deltas)
      expect(stream?.push({ choices: [{ index: 0, delta: { function_call: delta }, finish_reason: null }] })).toEqual(
        [],
      );
    expect(stream?.push({ choices: [{ index: 0, delta: {}, finish_reason: "function_call" }] })).toEqual(read);
    const [call] = read;
    const [answer] = ANSWERED;
    if (call === undefined || answer === undefined) throw new Error("unreachable");
    expect(openaiDialect().writeResults([{ ...answer, read: call }])).toEqual([
      { role: "function", name: "refund", content: "refunded Dana" },
    ]);
  });

  it("answers a call of a custom tool with what to do instead", () => {
    const message = { tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "+1" } }] };
    expect(openaiDialect().readCalls(message)).toMatchObject([
      { id: "c", call: { toolName: "patch" }, problem: /custom tool/ },
    ]);
  });
});

function toCall({ id, name, arguments: text }: SampleCall): object {
  return { id, type: "function", function: { name, arguments: text } };
}

function chunk(call: object): object {
  return {
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }],
  };
}
