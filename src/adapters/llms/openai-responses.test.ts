import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { ANSWER, askInTwoSteps, QUESTION } from "../../../test/doubles/llms/two-steps.ts";
import { llmContract, type ModelTurn } from "../../testing/index.ts";
import OpenAI from "openai";
import type {
  ResponseCreateParamsNonStreaming,
  ResponseCreateParamsStreaming,
} from "openai/resources/responses/responses";
import { openaiResponsesLlm, type ResponsesBody } from "./openai-responses.ts";

describe("OpenAI's Responses API", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("openai_responses", turns);
    return { adapter: openaiResponsesLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);

  it("sends what the official client sends, streamed or not, and reads the same answer", async () => {
    const { double, whole, streamed } = await askInTwoSteps("openai_responses", (settings) =>
      openaiResponsesLlm({ ...settings, maxTokens: 100, strict: true, temperature: 0.5 }),
    );
    expect(streamed.message.text).toBe(ANSWER.text);
    expectTypeOf<ResponsesBody & { stream?: never }>().toExtend<ResponseCreateParamsNonStreaming>();
    const client = new OpenAI({ apiKey: double.settings.apiKey, baseURL: double.settings.apiBase });
    const response = await client.responses.create(double.requests[1]?.body as ResponseCreateParamsNonStreaming);
    expect(response.output_text).toBe(whole.message.text);
    const events = await client.responses.create(double.requests[2]?.body as ResponseCreateParamsStreaming);
    let text = "";
    for await (const event of events) if (event.type === "response.output_text.delta") text += event.delta;
    expect(text).toBe(ANSWER.text);
    const [, ours, oursStreamed, official, officialStreamed] = double.requests;
    expect(official).toMatchObject({ path: ours?.path, body: ours?.body });
    expect(officialStreamed).toMatchObject({ path: oursStreamed?.path, body: oursStreamed?.body });
  });

  it("stores nothing at the provider, and asks a model that does not reason for no reasoning", async () => {
    const double = await openModel("openai_responses", [{ text: "Seven." }, { text: "Seven." }]);
    onTestFinished(() => double.close());
    for (const model of ["gpt-6", "gpt-4.1-mini"])
      await openaiResponsesLlm({ ...double.settings, model }).next({ messages: [QUESTION], tools: [] });
    const [reasoning, plain] = double.requests.map(({ body }) => body);
    expect(reasoning).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    expect(plain).toMatchObject({ store: false });
    expect(plain).not.toHaveProperty("include");
  });

  it("reads a refusal as one, streamed or not", async () => {
    const double = await openModel("openai_responses", []);
    onTestFinished(() => double.close());
    const refusal = "I can't help with that.";
    const item = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "refusal", refusal }],
    };
    const response = { object: "response", status: "completed", error: null, output: [item] };
    const events = (async function* () {
      yield `data: ${JSON.stringify({ type: "response.refusal.delta", delta: refusal })}\n\n`;
      yield `data: ${JSON.stringify({ type: "response.output_item.done", output_index: 0, item })}\n\n`;
      // Some servers leave the items out of the last event.
      yield `data: ${JSON.stringify({ type: "response.completed", response: { ...response, output: [] } })}\n\n`;
    })();
    double.answerNext(
      { status: 200, body: response },
      { status: 200, headers: { "content-type": "text/event-stream" }, body: events },
    );
    const llm = openaiResponsesLlm(double.settings);
    const turn = await llm.next({ messages: [QUESTION], tools: [] });
    expect(turn).toMatchObject({ stop: "refused", message: { text: refusal } });
    expect(await llm.next({ messages: [QUESTION], tools: [], onText: () => {} })).toEqual(turn);
  });

  it("repeats a response that failed at the provider", async () => {
    const double = await openModel("openai_responses", [{ text: "Seven." }]);
    onTestFinished(() => double.close());
    const error = { code: "server_error", message: "The model failed." };
    double.answerNext({ status: 200, body: { object: "response", status: "failed", error, output: [] } });
    const clock = { now: () => 0, after: (_ms: number, callback: () => void) => (queueMicrotask(callback), () => {}) };
    const patient = {
      ...clock,
      after: (ms: number, callback: () => void) => (ms === 120_000 ? () => {} : clock.after(ms, callback)),
    };
    const llm = openaiResponsesLlm(double.settings, { clock: patient });
    expect((await llm.next({ messages: [QUESTION], tools: [] })).message.text).toBe("Seven.");
  });
});
