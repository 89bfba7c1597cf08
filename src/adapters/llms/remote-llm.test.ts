import { describe, expect, it, onTestFinished } from "vitest";
import {
  MODEL_APIS,
  MODEL_WIRES,
  type ModelApiName,
  openModel,
  type ScriptStep,
} from "../../../test/doubles/llms/model-double.ts";
import { pieces } from "../../../test/doubles/llms/wire-parts.ts";
import type { AgentMessage, Llm, LlmRequest, LlmTurn } from "../../agent/llm.port.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { Clock } from "../../observe/clock.ts";
import { sampleTools } from "../../testing/index.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { llms } from "./manifest.ts";
import type { RemoteLlmSettings } from "./remote-llm.ts";
import { skippingClock } from "../../../test/doubles/skipping-clock.ts";

const TIMEOUT_MS = 12_345;
const tools = sampleTools();
const question: AgentMessage = { role: "user", text: "How many orders?" };
const query = { name: "query_database", arguments: { sql: "SELECT 1" } };

async function adapter(api: ModelApiName, settings: RemoteLlmSettings, clock?: Clock): Promise<Llm> {
  const { create } = await llms[api]();
  const llm = create({ timeoutMs: TIMEOUT_MS, ...settings }, clock === undefined ? {} : { clock, random: () => 0 });
  onTestFinished(() => llm.close());
  return llm;
}

async function open(api: ModelApiName, script: readonly ScriptStep[], settings: RemoteLlmSettings = {}) {
  const double = await openModel(api, script);
  onTestFinished(() => double.close());
  const clock = skippingClock(TIMEOUT_MS);
  return { double, clock, llm: await adapter(api, { ...double.settings, ...settings }, clock) };
}

/** An answer in the API's own format that goes no further than its text, and then whatever follows. */
function broken(api: ModelApiName, text: string, then: () => Promise<void>) {
  const writing = { model: "m", inputTokens: 1, outputTokens: 1, serial: 0, body: { stream: true } };
  const events = MODEL_WIRES[api].events({ text }, writing);
  const end = events.findIndex((event) => event.includes(JSON.stringify(pieces(text).at(-1)))) + 1;
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: (async function* () {
      yield events.slice(0, end).join("");
      await then();
    })(),
  };
}

function answered({ message }: LlmTurn, value: unknown, format: "native" | "text" = "native"): AgentMessage[] {
  const times = { queuedAt: 1, completedAt: 2, latencyMs: 1, attempts: 1, traceId: "t", spanId: "s" };
  const results = message.calls.map((read) => {
    const result: ToolResult = { toolName: read.call.toolName, status: "success", result: value, ...times };
    return { read, result };
  });
  return [message, { role: "tool", format, results }];
}

async function failure(promise: Promise<unknown>): Promise<Error & { code: string; details: Record<string, unknown> }> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isArsenalError(error)).toBe(true);
  return error as never;
}

const MODES: readonly (readonly [string, Pick<LlmRequest, "onText">])[] = [
  ["streamed", { onText: () => {} }],
  ["whole", {}],
];

describe.each(MODEL_APIS)("a model behind %s", (api) => {
  describe.each(MODES)("%s", (_mode, mode) => {
    const request = { messages: [question], tools, ...mode };

    it("reports a wrong key with its setting, without the key, and does not try again", async () => {
      const { llm, double } = await open(api, [], { apiKey: "a-wrong-key-0123456789" });
      const error = await failure(llm.next(request));
      expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { field: "llm.api_key" } });
      expect(String(error)).not.toContain("a-wrong-key-0123456789");
      expect(double.requests).toHaveLength(1);
    });

    it("reports an unknown model with its setting", async () => {
      const { llm, double } = await open(api, []);
      const body = MODEL_WIRES[api].refusal(404, "The model `scripted-1` does not exist");
      double.answerNext({ status: 404, body });
      const error = await failure(llm.next(request));
      expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { field: "llm.model" } });
      expect(error.message).toContain("does not exist");
    });

    it("reports a conversation that is too long as such", async () => {
      const { llm, double } = await open(api, []);
      double.answerNext({ status: 400, body: MODEL_WIRES[api].refusal(400, TOO_LONG[api]) });
      expect(await failure(llm.next(request))).toMatchObject({ code: "CONTEXT_TOO_LONG" });
      expect(double.requests).toHaveLength(1);
    });

    it("reads a prompt that a content filter blocked as refused", async () => {
      const { llm, double } = await open(api, [{ text: "Sorry." }]);
      const error = { message: "The response was filtered.", type: null, param: "prompt", code: "content_filter" };
      double.answerNext({ status: 400, body: { error } });
      const turn = await llm.next(request);
      expect(turn).toMatchObject({ stop: "refused", message: { text: "", calls: [] } });
      const messages = [question, turn.message, question];
      expect((await llm.next({ ...request, messages })).message.text).toBe("Sorry.");
    });

    it("tries again when the provider is busy, no sooner than it asks, and gives up after max_retries", async () => {
      const { llm, double, clock } = await open(api, [{ text: "Seven." }], { maxRetries: 2 });
      const busy = { status: 529, headers: { "retry-after": "7" }, body: MODEL_WIRES[api].refusal(529, "Overloaded") };
      double.answerNext(busy, { ...busy, status: 503 });
      expect((await llm.next(request)).message.text).toBe("Seven.");
      expect(clock.pauses).toEqual([7000, 7000]);
      double.answerNext(busy, busy, busy);
      expect(String(await failure(llm.next(request)))).toContain("Overloaded");
    });

    it("reports a model that is silent for too long", async () => {
      const { llm, double, clock } = await open(api, [], { maxRetries: 0 });
      double.answerNext("hang");
      const waiting = failure(llm.next(request));
      while (double.requests.length === 0) await new Promise(setImmediate);
      for (const fire of clock.timeouts) fire();
      expect(await waiting).toMatchObject({ code: "TIMEOUT" });
      await double.whenIdle();
    });

    it("closes the connection at once when aborted, and rejects with the reason", async () => {
      const { llm, double } = await open(api, []);
      const reason = new Error("enough");
      const stop = new AbortController();
      double.answerNext(
        mode.onText === undefined ? "hang" : broken(api, "One, two, three", () => new Promise<void>(() => {})),
      );
      const seen = Promise.withResolvers<void>();
      const onText = mode.onText && (() => seen.resolve());
      const waiting = llm.next({ ...request, ...(onText ? { onText } : {}), signal: stop.signal });
      const rejection = waiting.catch((error: unknown) => error);
      if (onText) await seen.promise;
      else while (double.requests.length === 0) await new Promise(setImmediate);
      const isOver = double.whenIdle();
      stop.abort(reason);
      expect(await rejection).toBe(reason);
      await isOver;
    });

    it("sends a key nowhere else: a redirect is an error", async () => {
      const { llm, double } = await open(api, []);
      double.answerNext({ status: 307, headers: { location: `${double.url}/elsewhere` }, body: "" });
      expect(await failure(llm.next(request))).toMatchObject({ details: { field: "llm.api_base" } });
      expect(double.requests).toHaveLength(1);
    });

    it("says when an answer was cut off or blocked", async () => {
      const { llm } = await open(api, [
        { text: "It is", stop: "length" },
        { text: "", stop: "refused" },
      ]);
      expect(await llm.next(request)).toMatchObject({ stop: "length", message: { text: "It is" } });
      expect(await llm.next(request)).toMatchObject({ stop: "refused", message: { calls: [] } });
    });

    it("sends back what the provider signed, unchanged", async () => {
      const thinking = "The table is called orders. 🤔";
      const { llm, double } = await open(api, [
        { thinking, text: "Let me see.", calls: [query, query] },
        { thinking, calls: [query] },
        { text: "Seven." },
      ]);
      const first = await llm.next(request);
      const messages = [question, ...answered(first, 7)];
      const second = await llm.next({ ...request, messages });
      const last = await llm.next({ ...request, messages: [...messages, ...answered(second, 8)] });
      expect(last.message.text).toBe("Seven.");
      expect(JSON.stringify(double.asked[2]?.body)).toContain(
        JSON.stringify(first.message.native?.content).slice(1, -1),
      );
      expect(first.message.text).toBe("Let me see.");
    });

    it("offers tools in strict mode if asked to, within what one request may hold", async () => {
      const { llm, double } = await open(api, [{ text: "Seven." }], { strict: true, maxTokens: 77 });
      await llm.next({ ...request, system: "Be brief." });
      const [asked] = double.asked;
      const strict = JSON.stringify(asked?.body).split('"strict":true').length - 1;
      expect(strict).toBe(api === "gemini" ? 0 : 5);
      expect(JSON.stringify(asked?.body)).toMatch(/"max\w*":77/i);
      expect(asked).toMatchObject({ system: "Be brief.", prompt: "How many orders?", streamed: "onText" in mode });
      expect(asked?.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    });
  });

  it("gives the model results as 004's text, in the place of the result or as a message [004-format-success]", async () => {
    const { llm, double } = await open(api, [{ calls: [query] }, { text: "Seven." }]);
    const first = await llm.next({ messages: [question], tools });
    await llm.next({ messages: [question, ...answered(first, 7, "text")], tools });
    const text = 'Tool Execution Result\nTool: query_database\nArguments: {"sql": "SELECT 1"}\nOutput: 7';
    expect(double.asked[1]?.results).toEqual([
      { name: "query_database", text: expect.stringContaining(text) as string },
    ]);
  });

  it("repeats a stream that broke before its first text", async () => {
    const { llm, double } = await open(api, [{ text: "Seven." }]);
    const cut = (async function* () {
      yield ": keep-alive\n\n";
      throw new Error("cut");
    })();
    double.answerNext({ status: 200, headers: { "content-type": "text/event-stream" }, body: cut }, "drop");
    const { message } = await llm.next({ messages: [question], tools, onText: () => {} });
    expect(double.requests).toHaveLength(3);
    expect(message.text).toBe("Seven.");
  });

  it.each([
    ["breaks", () => Promise.reject(new Error("cut"))],
    ["ends", () => Promise.resolve()],
  ])("reports a stream that %s in the middle, with what arrived, and does not repeat it", async (_how, then) => {
    const { llm, double } = await open(api, [{ text: "Never sent." }]);
    const seen = Promise.withResolvers<void>();
    double.answerNext(broken(api, "Six or seven or", () => seen.promise.then(then)));
    let text = "";
    const onText = (piece: string): void => {
      text += piece;
      if (text === "Six or seven or") seen.resolve();
    };
    const error = await failure(llm.next({ messages: [question], tools, onText }));
    expect(error).toMatchObject({ code: "TRANSPORT_FAILED", details: { value: "Six or seven or" } });
    expect(double.requests).toHaveLength(1);
  });

  it("reports a stream that falls silent, with what arrived", async () => {
    const { llm, double, clock } = await open(api, []);
    double.answerNext(broken(api, "Six or", () => new Promise<void>(() => {})));
    let text = "";
    const onText = (piece: string): void => {
      text += piece;
      // The silence begins once this piece is read.
      if (text === "Six or") setImmediate(() => clock.timeouts.forEach((fire) => fire()));
    };
    const error = await failure(llm.next({ messages: [question], tools, onText }));
    expect(error).toMatchObject({ code: "TIMEOUT", details: { value: "Six or" } });
    expect(error.message).toMatch(/sent nothing for 12345 ms/);
    await double.whenIdle();
  });

  it("reports an error that comes in the middle of a stream, and repeats one that comes before the first text", async () => {
    const { llm, double } = await open(api, [{ text: "Seven." }]);
    const streaming = { status: 200, headers: { "content-type": "text/event-stream" } };
    const failed = async function* (before: string) {
      yield before;
      yield `event: error\ndata: ${JSON.stringify(OVERLOADED[api])}\n\n`;
    };
    double.answerNext({ ...streaming, body: failed("") });
    expect((await llm.next({ messages: [question], tools, onText: () => {} })).message.text).toBe("Seven.");
    expect(double.requests).toHaveLength(2);
    const { value } = await broken(api, "Six", () => Promise.resolve()).body.next();
    double.answerNext({ ...streaming, body: failed(String(value)) });
    const error = await failure(llm.next({ messages: [question], tools, onText: () => {} }));
    expect(error.message).toContain("Overloaded");
    expect(error.details).toMatchObject({ value: "Six" });
    expect(double.requests).toHaveLength(3);
  });

  it("rejects with what the reader of its text throws", async () => {
    const { llm, double } = await open(api, [{ text: "Seven. Or eight." }]);
    const mistake = new RangeError("the terminal is gone");
    const onText = (): void => {
      throw mistake;
    };
    await expect(llm.next({ messages: [question], tools, onText })).rejects.toBe(mistake);
    await double.whenIdle();
    expect(double.requests).toHaveLength(1);
  });

  it("refuses more tools than the API takes before it sends anything", async () => {
    const { llm, double } = await open(api, [{ text: "Fine." }]);
    const many = Array.from({ length: 129 }, (_, at) =>
      defineTool({
        name: `tool_${at}`,
        description: "Does something.",
        parameters: { type: "object", properties: {} },
      }),
    );
    const asking = llm.next({ messages: [question], tools: many });
    if (api === "anthropic") expect((await asking).stop).toBe("answer");
    else expect(await failure(asking)).toMatchObject({ code: "INPUT_INVALID", message: /at most 128 tools/ });
    expect(double.requests).toHaveLength(api === "anthropic" ? 1 : 0);
  });

  it("says so when the server is not one of its kind", async () => {
    const { llm, double } = await open(api, []);
    double.answerNext({ status: 200, body: { hello: "world" } }, { status: 200, body: { hello: "world" } });
    for (const [, mode] of MODES)
      expect(await failure(llm.next({ messages: [question], tools, ...mode }))).toMatchObject({
        code: "PROTOCOL_ERROR",
        message: /llm\.api_base/,
      });
  });

  it.each(MODEL_APIS.filter((other) => other !== api))(
    "continues what a model behind %s began, and back",
    async (other) => {
      const first = await open(other, [
        { thinking: "Hm.", text: "Let me see.", calls: [query, query] },
        { text: "Eight." },
      ]);
      const second = await open(api, [{ thinking: "Hm.", calls: [query] }, { text: "Seven." }]);
      const begun = await first.llm.next({ messages: [question], tools, onText: () => {} });
      const messages = [question, ...answered(begun, 7)];
      const turn = await second.llm.next({ messages, tools });
      const more = [...messages, ...answered(turn, 8)];
      expect((await second.llm.next({ messages: more, tools })).message.text).toBe("Seven.");
      expect((await first.llm.next({ messages: more, tools })).message.text).toBe("Eight.");
    },
  );

  it("adds members to the body that the settings name", async () => {
    const extraBody = {
      gemini: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
      anthropic: { thinking: { type: "adaptive" } },
      openai: { reasoning_effort: "low" },
      openai_responses: { reasoning: { effort: "low" } },
    }[api];
    const { llm, double } = await open(api, [{ text: "Seven." }], { extraBody, maxTokens: 99 });
    await llm.next({ messages: [question], tools });
    expect(double.requests[0]?.body).toMatchObject(extraBody);
    expect(JSON.stringify(double.requests[0]?.body)).toMatch(/"max\w*":99/i);
  });
});

/** How each provider says that a conversation is too long. */
const TOO_LONG: Readonly<Record<ModelApiName, string>> = {
  openai: "This model's maximum context length is 128000 tokens. However, your messages resulted in 128456 tokens.",
  openai_responses: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  anthropic: "prompt is too long: 212345 tokens > 200000 maximum",
  gemini: "The input token count (1048999) exceeds the maximum number of tokens allowed (1048576).",
};

/** How each provider says, within a stream, that it is overloaded. */
const OVERLOADED: Readonly<Record<ModelApiName, object>> = {
  openai: { error: { message: "Overloaded", type: "server_error", param: null, code: null } },
  openai_responses: { type: "response.failed", response: { error: { code: "server_error", message: "Overloaded" } } },
  anthropic: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  gemini: { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } },
};
