import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { ANSWER, askInTwoSteps, QUERY, QUESTION } from "../../../test/doubles/llms/two-steps.ts";
import { llmContract, type ModelTurn } from "../../testing/index.ts";
import { type Content, type GenerateContentConfig, type GenerateContentResponse, GoogleGenAI } from "@google/genai";
import { geminiLlm, type GeminiBody } from "./gemini.ts";

describe("Google's Gemini API", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("gemini", turns);
    return { adapter: geminiLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);

  it("sends what the official client sends, streamed or not, and reads the same answer", async () => {
    const { double, whole, streamed } = await askInTwoSteps("gemini", (settings) =>
      geminiLlm({ ...settings, maxTokens: 100, strict: true, temperature: 0.5 }),
    );
    expect(streamed.message.text).toBe(ANSWER.text);
    expectTypeOf<GeminiBody["tools"]>().toExtend<GenerateContentConfig["tools"]>();
    const client = new GoogleGenAI({ apiKey: double.settings.apiKey ?? "", httpOptions: { baseUrl: double.url } });
    const { contents, systemInstruction, tools, generationConfig } = (double.requests[1]?.body ?? {}) as GeminiBody;
    const config = { systemInstruction, tools, ...generationConfig } as GenerateContentConfig;
    const asked = { model: "scripted-1", contents: contents as Content[], config };
    const response = await client.models.generateContent(asked);
    expect(response.functionCalls).toEqual([{ name: QUERY.name, args: QUERY.arguments }]);
    expect(textOf(response)).toBe(whole.message.text);
    let text = "";
    for await (const chunk of await client.models.generateContentStream(asked)) text += textOf(chunk);
    expect(text).toBe(ANSWER.text);
    const { systemInstruction: system, ...rest } = (double.requests[3]?.body ?? {}) as GeminiBody;
    expect(system).toMatchObject({ parts: systemInstruction?.parts });
    expect(rest).toEqual({ contents, tools, generationConfig });
    expect(double.requests[3]?.path).toBe(double.requests[1]?.path);
    expect(double.requests[4]?.path).toBe(double.requests[2]?.path);
  });

  it("reads a blocked prompt as refused, and a call that the model could not write as an error", async () => {
    const double = await openModel("gemini", []);
    onTestFinished(() => double.close());
    const llm = geminiLlm(double.settings);
    const request = { messages: [QUESTION], tools: [] };
    double.answerNext({ status: 200, body: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } } });
    expect(await llm.next(request)).toMatchObject({ stop: "refused", message: { text: "", calls: [] } });
    const candidate = { content: {}, finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "Malformed call: print(" };
    double.answerNext({ status: 200, body: { candidates: [candidate] } });
    await expect(llm.next(request)).rejects.toMatchObject({
      code: "EXECUTION_FAILED",
      message: /MALFORMED_FUNCTION_CALL/,
    });
  });

  it("keeps signatures where they came in a stream, and joins only plain text", async () => {
    const double = await openModel("gemini", []);
    onTestFinished(() => double.close());
    const parts = [
      { text: "Hm", thought: true },
      { text: "m.", thought: true },
      { text: "Sev" },
      { text: "en" },
      { text: ".", thoughtSignature: "c2lnbmVk" },
      { text: "", thoughtSignature: "c2lnbmVkIHRvbw==" },
    ];
    const events = (async function* () {
      for (const part of parts)
        yield `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [part] } }] })}\n\n`;
      yield `data: ${JSON.stringify({ candidates: [{ finishReason: "STOP" }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, thoughtsTokenCount: 3 } })}\n\n`;
    })();
    double.answerNext({ status: 200, headers: { "content-type": "text/event-stream" }, body: events });
    const turn = await geminiLlm(double.settings).next({ messages: [QUESTION], tools: [], onText: () => {} });
    expect(turn.message.text).toBe("Seven.");
    expect(turn.usage).toEqual({ inputTokens: 1, outputTokens: 5 });
    expect(turn.message.native?.content).toEqual({
      role: "model",
      parts: [{ text: "Hmm.", thought: true }, { text: "Seven" }, parts[4], parts[5]],
    });
  });

  it("takes the path of a tuned model as it is", async () => {
    const double = await openModel("gemini", []);
    onTestFinished(() => double.close());
    const llm = geminiLlm({ ...double.settings, model: "tunedModels/mine" });
    await expect(llm.next({ messages: [QUESTION], tools: [] })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(double.requests[0]?.path).toBe("/v1beta/tunedModels/mine:generateContent");
  });
});

/** The library's own getter warns if there are calls as well as text. */
function textOf({ candidates }: GenerateContentResponse): string {
  return (candidates?.[0]?.content?.parts ?? []).map((part) => part.text ?? "").join("");
}
