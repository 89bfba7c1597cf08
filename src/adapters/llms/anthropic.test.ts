import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { openModel, type ScriptedTurn } from "../../../test/doubles/llms/model-double.ts";
import type { AgentMessage } from "../../agent/llm.port.ts";
import { llmContract, type ModelTurn, sampleTools } from "../../testing/index.ts";
import Anthropic from "@anthropic-ai/sdk";
import { anthropicLlm, type MessagesBody } from "./anthropic.ts";

const QUERY = { name: "query_database", arguments: { sql: "SELECT 1" } };
const QUESTION: AgentMessage = { role: "user", text: "How many orders?" };

describe("Anthropic's Messages API", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("anthropic", turns);
    return { adapter: anthropicLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);

  it("sends what the official client sends, streamed or not, and reads the same answer", async () => {
    const calling: ScriptedTurn = { thinking: "Hm.", text: "Let me see.", calls: [QUERY] };
    const answer: ScriptedTurn = { text: "There are seven.", calls: [QUERY] };
    const double = await openModel("anthropic", [calling, answer, answer, answer, answer]);
    onTestFinished(() => double.close());
    const llm = anthropicLlm({ ...double.settings, maxTokens: 100, strict: true });
    const request = { system: "Be brief.", messages: [QUESTION], tools: sampleTools() };
    const { message } = await llm.next(request);
    const results = message.calls.map((read) => ({ read, result: RESULT }));
    const messages: AgentMessage[] = [QUESTION, message, { role: "tool", format: "native", results }];
    const whole = await llm.next({ ...request, messages });
    const streamed = await llm.next({ ...request, messages, onText: () => {} });
    expect(streamed.message.text).toBe(answer.text);
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
    const results = message.calls.map((read) => ({ read, result: RESULT }));
    await llm.next({ messages: [QUESTION, message, { role: "tool", format: "native", results }], tools: [] });
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

const RESULT = {
  toolName: "query_database",
  status: "success",
  result: { rows: 7 },
  queuedAt: 1,
  completedAt: 2,
  latencyMs: 1,
  attempts: 1,
  traceId: "t",
  spanId: "s",
} as const;
