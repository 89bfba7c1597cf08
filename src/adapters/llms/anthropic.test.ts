import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { ANSWER, answered, askInTwoSteps, QUERY, QUESTION } from "../../../test/doubles/llms/two-steps.ts";
import type { AgentMessage } from "../../agent/llm.port.ts";
import { llmContract, type ModelTurn, sampleTools } from "../../testing/index.ts";
import Anthropic from "@anthropic-ai/sdk";
import { anthropicLlm, type MessagesBody } from "./anthropic.ts";

describe("Anthropic's Messages API", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("anthropic", turns);
    return { adapter: anthropicLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);

  it("sends what the official client sends, streamed or not, and reads the same answer", async () => {
    const { double, whole, streamed } = await askInTwoSteps("anthropic", (settings) =>
      anthropicLlm({ ...settings, maxTokens: 100, strict: true }),
    );
    expect(streamed.message.text).toBe(ANSWER.text);
    expectTypeOf<MessagesBody & { stream?: never }>().toExtend<Anthropic.MessageCreateParamsNonStreaming>();
    const client = new Anthropic({ apiKey: double.settings.apiKey, baseURL: double.settings.apiBase });
    const response = await client.messages.create(
      double.requests[1]?.body as Anthropic.MessageCreateParamsNonStreaming,
    );
    expect(response.content).toMatchObject([
      { text: whole.message.text },
      { name: QUERY.name, input: QUERY.arguments },
    ]);
    const events = client.messages.stream(double.requests[2]?.body as Anthropic.MessageCreateParamsStreaming);
    // Put together by the official client, it is the turn that the adapter put together.
    expect((await events.finalMessage()).content).toMatchObject(
      ((streamed.message.native?.content ?? []) as { id?: string }[]).map(({ id: _id, ...block }) => block),
    );
    const [, ours, oursStreamed, official, officialStreamed] = double.requests;
    expect(official).toMatchObject({ path: ours?.path, body: ours?.body });
    expect(officialStreamed).toMatchObject({ path: oursStreamed?.path, body: oursStreamed?.body });
  });

  it("refuses a temperature, which the API does not take", () => {
    expect(() => anthropicLlm({ model: "claude", temperature: 0 })).toThrow("llm.temperature is set");
  });

  it("needs no tools for a conversation that has calls, because it defines those it called", async () => {
    const double = await openModel("anthropic", [{ calls: [QUERY] }, { text: "Seven." }]);
    onTestFinished(() => double.close());
    const llm = anthropicLlm(double.settings);
    const { message } = await llm.next({ messages: [QUESTION], tools: sampleTools() });
    await llm.next({ messages: answered(message), tools: [] });
    expect(double.requests[1]?.body).toMatchObject({ tools: [{ name: QUERY.name }], tool_choice: { type: "none" } });
  });

  it("does not send back an empty turn, and counts what was cached", async () => {
    const double = await openModel("anthropic", [{ text: "Seven." }]);
    onTestFinished(() => double.close());
    const llm = anthropicLlm(double.settings);
    const usage = { input_tokens: 1, cache_read_input_tokens: 20, cache_creation_input_tokens: 300, output_tokens: 4 };
    double.answerNext({
      status: 200,
      body: { type: "message", role: "assistant", content: [], stop_reason: "end_turn", usage },
    });
    const { message, usage: counted } = await llm.next({ messages: [QUESTION], tools: [] });
    expect(counted).toEqual({ inputTokens: 321, outputTokens: 4 });
    const again: AgentMessage = { role: "user", text: "Well?" };
    expect((await llm.next({ messages: [QUESTION, message, again], tools: [] })).message.text).toBe("Seven.");
  });
});
