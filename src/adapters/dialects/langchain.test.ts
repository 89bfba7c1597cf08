import { AIMessage, coerceMessageLikeToMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { ANSWERED, PARAMETERS, pieces, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { langchainDialect } from "./langchain.ts";

const samples: DialectSamples = {
  sendsText: false,
  answer: (calls) => ({ content: "", tool_calls: calls.map(toCall), invalid_tool_calls: [] }),
  stream: (calls) =>
    calls.flatMap(({ id, name, arguments: text }, index) => [
      { tool_call_chunks: [{ index, id, name, args: "" }] },
      ...pieces(text).map((args) => ({ tool_call_chunks: [{ index, args }] })),
    ]),
};

describe("langchain", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: langchainDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(langchainDialect().fromCanonical(refundUser())).toEqual({
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      schema: PARAMETERS,
    });
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(langchainDialect().writeResults(ANSWERED)).toEqual([
      { role: "tool", tool_call_id: "call_1", name: "refund", content: "refunded Dana", status: "success" },
      {
        role: "tool",
        tool_call_id: "call_2",
        name: "refund",
        content: '{"refunded":12.5}',
        status: "success",
        artifact: { refunded: 12.5 },
      },
      {
        role: "tool",
        tool_call_id: "call_3",
        name: "receipt",
        content: [
          { type: "text", text: "The receipt." },
          { type: "image", mimeType: "image/png", data: "AAAA" },
        ],
        status: "success",
      },
      {
        role: "tool",
        tool_call_id: "call_4",
        name: "refund",
        content: expect.stringContaining("Error: The card was refused.") as string,
        status: "error",
      },
    ]);
  });

  it("reads calls that LangChain could not parse", () => {
    const message = new AIMessage({
      content: "",
      tool_calls: [{ id: "a", name: "ping", args: { n: 1 } }],
      invalid_tool_calls: [{ id: "b", name: "ping", args: '{"n":', error: "cut" }],
    });
    expect(langchainDialect().readCalls(message)).toMatchObject([
      { id: "a", call: { toolName: "ping", arguments: { n: 1 } } },
      { id: "b", rawArguments: '{"n":', problem: expect.stringContaining("not valid JSON") as string },
    ]);
    expect(langchainDialect().readCalls(message.toJSON())).toHaveLength(2);
  });

  it("writes messages that LangChain makes tool messages of [003-adapter-langchain]", () => {
    const [message] = langchainDialect().writeResults(ANSWERED);
    const made = coerceMessageLikeToMessage(message ?? "");
    expect(made).toBeInstanceOf(ToolMessage);
    expect(made).toMatchObject({ content: "refunded Dana", tool_call_id: "call_1", status: "success" });
  });
});

function toCall({ id, name, arguments: text }: SampleCall): object {
  return { type: "tool_call", id, name, args: JSON.parse(text) as unknown };
}
