import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { ANSWER, answered, askInTwoSteps, QUESTION } from "../../../test/doubles/llms/two-steps.ts";
import { llmContract, type ModelTurn, sampleTools } from "../../testing/index.ts";
import OpenAI from "openai";
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from "openai/resources/chat/completions";
import { createEgress } from "../../guard/egress/egress.ts";
import { type ChatBody, openaiLlm } from "./openai.ts";

describe("OpenAI's Chat Completions", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("openai", turns);
    return { adapter: openaiLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);

  it("sends what the official client sends, streamed or not, and reads the same answer", async () => {
    const { double, whole, streamed } = await askInTwoSteps("openai", (settings) =>
      openaiLlm({ ...settings, maxTokens: 100, strict: true, temperature: 0.5 }),
    );
    expect(streamed.message.text).toBe(ANSWER.text);
    expectTypeOf<ChatBody & { stream?: never }>().toExtend<ChatCompletionCreateParamsNonStreaming>();
    const client = new OpenAI({ apiKey: double.settings.apiKey, baseURL: double.settings.apiBase });
    const body = double.requests[1]?.body as ChatCompletionCreateParamsNonStreaming;
    const [choice] = (await client.chat.completions.create(body)).choices;
    expect(choice?.message.content).toBe(whole.message.text);
    expect(choice?.message.tool_calls).toMatchObject([{ function: { arguments: '{"sql":"SELECT 1"}' } }]);
    const events = await client.chat.completions.create(
      double.requests[2]?.body as ChatCompletionCreateParamsStreaming,
    );
    let text = "";
    for await (const { choices } of events) text += choices[0]?.delta.content ?? "";
    expect(text).toBe(ANSWER.text);
    const [, ours, oursStreamed, official, officialStreamed] = double.requests;
    expect(official).toMatchObject({ path: ours?.path, body: ours?.body });
    expect(officialStreamed).toMatchObject({ path: oursStreamed?.path, body: oursStreamed?.body });
  });

  it("asks a server of Azure with its own header, and others with the members that every server knows", async () => {
    const double = await openModel("openai", [{ text: "Seven." }, { text: "Seven." }]);
    onTestFinished(() => double.close());
    const egress = createEgress();
    const sent: { readonly url: string; readonly headers: Readonly<Record<string, string>> }[] = [];
    const toDouble: typeof egress = {
      ...egress,
      request(url, request = {}) {
        const headers = request.headers ?? {};
        sent.push({ url: String(url), headers });
        const authorization = `Bearer ${headers["api-key"] ?? ""}`;
        return egress.request(`${double.url}/v1/chat/completions`, {
          ...request,
          headers: { ...headers, authorization },
        });
      },
    };
    const azure = {
      model: "scripted-1",
      apiBase: "https://us.openai.azure.com/openai/v1?api-version=preview",
      maxTokens: 9,
    };
    const { apiKey = "" } = double.settings;
    await openaiLlm({ ...azure, apiKey }, { egress: toDouble }).next({ messages: [QUESTION], tools: [] });
    expect(sent[0]?.url).toBe("https://us.openai.azure.com/openai/v1/chat/completions?api-version=preview");
    expect(sent[0]?.headers).toMatchObject({ "api-key": apiKey });
    expect(sent[0]?.headers).not.toHaveProperty("authorization");
    await openaiLlm({ ...double.settings, maxTokens: 9 }).next({ messages: [QUESTION], tools: [] });
    expect(double.requests.map(({ body }) => body)).toMatchObject([{ max_completion_tokens: 9 }, { max_tokens: 9 }]);
    egress.close();
  });

  it("keeps what a compatible server adds to a message and to a call, also from a stream", async () => {
    const double = await openModel("openai", [{ text: "Seven." }, { text: "Eight." }]);
    onTestFinished(() => double.close());
    const llm = openaiLlm(double.settings);
    const extra_content = { google: { thought_signature: "c2lnbmVk" } };
    const call = {
      id: "a",
      type: "function",
      function: { name: "query_database", arguments: '{"sql":"x"}' },
      extra_content,
    };
    const message = { role: "assistant", content: null, reasoning_content: "Hm, orders.", tool_calls: [call] };
    const chunks = [
      { choices: [{ index: 0, delta: { role: "assistant", content: null, reasoning_content: "Hm, " } }] },
      { choices: [{ index: 0, delta: { reasoning_content: "orders." } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ ...call, index: 0 }] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ];
    const events = (async function* () {
      for (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\n\n`;
    })();
    double.answerNext(
      { status: 200, body: { choices: [{ index: 0, message, finish_reason: "tool_calls" }] } },
      { status: 200, headers: { "content-type": "text/event-stream" }, body: events },
    );
    const request = { messages: [QUESTION], tools: sampleTools() };
    const whole = await llm.next(request);
    expect(whole.message.native?.content).toEqual(message);
    expect(whole.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
    expect(await llm.next({ ...request, onText: () => {} })).toEqual(whole);
  });

  it("reads the text of servers that answer with parts", async () => {
    const double = await openModel("openai", []);
    onTestFinished(() => double.close());
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
      { type: "text", text: "Seven." },
    ];
    const chunks = [
      { choices: [{ index: 0, delta: { role: "assistant", content: [parts[0]] } }] },
      { choices: [{ index: 0, delta: { content: [parts[1]] }, finish_reason: "stop" }] },
    ];
    const events = (async function* () {
      for (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\n\n`;
    })();
    double.answerNext(
      { status: 200, body: { choices: [{ index: 0, message: { content: parts }, finish_reason: "stop" }] } },
      { status: 200, headers: { "content-type": "text/event-stream" }, body: events },
    );
    const llm = openaiLlm(double.settings);
    const turn = await llm.next({ messages: [QUESTION], tools: [] });
    expect(turn.message.text).toBe("Seven.");
    expect(await llm.next({ messages: [QUESTION], tools: [], onText: () => {} })).toEqual(turn);
  });

  it("answers a function_call of an older model by its name", async () => {
    const double = await openModel("openai", []);
    onTestFinished(() => double.close());
    const llm = openaiLlm(double.settings);
    const function_call = { name: "query_database", arguments: '{"sql":"x"}' };
    const message = { role: "assistant", content: null, function_call };
    double.answerNext({ status: 200, body: { choices: [{ index: 0, message, finish_reason: "function_call" }] } });
    const turn = await llm.next({ messages: [QUESTION], tools: sampleTools() });
    expect(turn).toMatchObject({ stop: "calls", message: { calls: [{ call: { toolName: "query_database" } }] } });
    double.answerNext({ status: 200, body: { choices: [{ index: 0, message: { content: "Seven." } }] } });
    await llm.next({ messages: answered(turn.message), tools: [] });
    const sent = double.requests[1]?.body as { readonly messages: readonly unknown[] };
    expect(sent.messages.slice(1)).toEqual([
      message,
      { role: "function", name: "query_database", content: '{"rows":7}' },
    ]);
  });
});
