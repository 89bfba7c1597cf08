import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, cardOf, sendJson, startPlainServer } from "../../../../test/a2a/plain-server.ts";
import { startTestAgent } from "../../../../test/a2a/test-agent.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import type { ToolResult } from "../../../execute/result.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { a2aSource } from "./a2a.ts";
import type { A2aAgentSettings } from "./settings.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

const CARD = "/.well-known/agent-card.json";
const card: Answer = (response, _body, _request, url) => sendJson(response, cardOf(url));
const streamingCard: Answer = (response, _body, _request, url) =>
  sendJson(response, cardOf(url, { capabilities: { streaming: true } }));

async function serve(answers: Readonly<Record<string, Answer>>) {
  return cleanUp.use(await startPlainServer(answers));
}

async function add(url: string, settings: Partial<A2aAgentSettings> = {}): Promise<ToolArsenal> {
  const arsenal = cleanUp.use(new ToolArsenal());
  await arsenal.addA2aAgent({ name: "peer", url, refreshS: 0, ...settings });
  return arsenal;
}

async function call(
  agent: Answer,
  settings: Partial<A2aAgentSettings> = {},
  cards: Answer = card,
): Promise<ToolResult> {
  const { url } = await serve({ [CARD]: cards, "/agent": agent });
  const arsenal = await add(url, settings);
  return arsenal.execute({ toolName: "a2a_peer", arguments: { message: "hi" } });
}

const endless = async (response: Parameters<Answer>[0], chunk: string): Promise<void> => {
  while (!response.destroyed) {
    response.write(chunk);
    await setImmediate();
  }
};

describe("a card", () => {
  it("that never ends is refused at its limit", async () => {
    const { url } = await serve({
      [CARD]: (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"name":"');
        return endless(response, "x".repeat(65_536));
      },
    });
    await expect(add(url)).rejects.toThrow(
      /The agent card of peer cannot be used: .+ has more than 1048576 bytes\. Raise max_card_bytes\./,
    );
  });

  it("is bounded by max_card_bytes", async () => {
    const long: Answer = (response, _body, _request, url) =>
      sendJson(response, cardOf(url, { description: "x".repeat(1_100_000) }));
    const { url } = await serve({ [CARD]: long });
    await expect(add(url)).rejects.toThrow(/has more than 1048576 bytes/);
    expect((await add(url, { maxCardBytes: 2_000_000 })).toolCount).toBe(1);
  });

  it.each<[string, Answer, RegExp]>([
    ["is no JSON", (response) => response.end("<html>"), /is not a JSON object/],
    ["is another document", (response) => sendJson(response, { hello: 1 }), /has no name or no interface/],
    ["speaks another version", ownInterface("JSONRPC", "2.0"), /has no supported interface/],
    ["speaks only gRPC", ownInterface("GRPC", "1.0"), /has no supported interface/],
    ["needs a login", (response) => sendJson(response, {}, 401), /answered HTTP 401\. Set the agent's headers\./],
    ["breaks off", (response) => (response.write('{"name":'), response.destroy()), /failed|broke off|hang up|aborted/],
  ])("is refused with a reason if it %s", async (_what, answer, reason) => {
    const { url } = await serve({ [CARD]: answer });
    await expect(add(url)).rejects.toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message: expect.stringMatching(reason),
    });
  });

  it("counts as 1.0 if the version of its interface is null", async () => {
    const { url } = await serve({ [CARD]: ownInterface("JSONRPC", null) });
    expect((await add(url)).toolCount).toBe(1);
  });

  it("with an HTTP scheme that it does not name is said to have one without a name", async () => {
    const login = { httpAuthSecurityScheme: {} };
    const security = { securitySchemes: { login }, securityRequirements: [{ schemes: { login: {} } }] };
    const { url } = await serve({
      [CARD]: (response, _body, _request, at) => sendJson(response, cardOf(at, security)),
    });
    const { error } = await (await add(url)).execute({ toolName: "a2a_peer", arguments: { message: "hi" } });
    expect(error?.message).toMatch(/needs credentials: login \(HTTP without a scheme, which is not supported\)\./);
  });

  it("is not looked for at private addresses that an agent redirects to", async () => {
    const { url } = await serve({
      [CARD]: (response) => response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end(),
    });
    await expect(add(url)).rejects.toThrow(/169\.254\.169\.254.* is refused/);
  });

  it("may not have calls sent to private addresses elsewhere", async () => {
    const elsewhere = await serve({ "/agent": (response) => sendJson(response, {}) });
    const { url } = await serve({ [CARD]: (response) => sendJson(response, cardOf(elsewhere.url)) });
    const arsenal = await add(url);
    const { error } = await arsenal.execute({ toolName: "a2a_peer", arguments: { message: "hi" } });
    expect(error).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(elsewhere.paths).toEqual([]);
  });

  it("may not have credentials sent elsewhere, unless the operator names the endpoint", async () => {
    const elsewhere = await serve({
      "/agent": (response, { id }) =>
        sendJson(response, { jsonrpc: "2.0", id, result: { message: { messageId: "1", parts: [{ text: "hi" }] } } }),
    });
    const { url } = await serve({ [CARD]: (response) => sendJson(response, cardOf(elsewhere.url)) });
    const headers = { "x-key": "0123456789abcdef" };
    await expect(add(url, { headers })).rejects.toThrow(/the credentials were not sent\. Set endpoint: http/);
    const arsenal = await add(url, { headers, endpoint: `${elsewhere.url}/agent` });
    const result = await arsenal.execute({ toolName: "a2a_peer", arguments: { message: "hi" } });
    expect(result).toMatchObject({ status: "success", result: { text: "hi" } });
  });

  function ownInterface(protocolBinding: string, protocolVersion: string | null): Answer {
    return (response, _body, _request, url) =>
      sendJson(response, cardOf(url, { supportedInterfaces: [{ url, protocolBinding, protocolVersion }] }));
  }
});

describe("an answer", () => {
  it.each<[string, Answer, string, RegExp]>([
    ["no JSON", (response) => response.end("<html>"), "OUTCOME_UNKNOWN", /which is not a JSON object/],
    [
      "nothing that an agent says",
      (response) => sendJson(response, { result: { ok: 1 } }),
      "OUTCOME_UNKNOWN",
      /neither/,
    ],
    [
      "a redirect",
      (response) => response.writeHead(307, { location: "http://169.254.169.254/" }).end(),
      "PROTOCOL_ERROR",
      /redirected the call to http:\/\/169\.254\.169\.254\//,
    ],
    [
      "an error",
      (response, { id }) => sendJson(response, { id, error: { code: -32603, message: "Out of order" } }),
      "EXECUTION_FAILED",
      /refused \(-32603\): Out of order/,
    ],
    [
      "an HTTP error",
      (response) => response.writeHead(503, { "retry-after": "7" }).end("later"),
      "EXECUTION_FAILED",
      /answered HTTP 503 Service Unavailable: later/,
    ],
    ["a closed connection", (response) => response.destroy(), "OUTCOME_UNKNOWN", /may or may not have taken effect/],
  ])("of %s is a failure with a reason", async (_what, answer, code, message) => {
    const { status, error } = await call(answer);
    expect(status).toBe("failure");
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it.each([
    ["7", 7000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ])("with the header retry-after: %s says when to call again", async (header, retryAfterMs) => {
    const { error } = await call((response) => response.writeHead(429, { "retry-after": header }).end());
    expect(error).toMatchObject({ code: "EXECUTION_FAILED", retryAfterMs });
  });

  it("that never ends is cut off at its limit", async () => {
    const { error } = await call((response) => endless(response, "x".repeat(65_536)), { maxAnswerBytes: 262_144 });
    expect(error).toMatchObject({
      code: "RESULT_TOO_LARGE",
      message:
        "The agent peer answered with more than 262144 bytes. Ask for less, or raise max_answer_bytes of the agent.",
    });
  });

  it.each([
    [
      "events",
      `data: ${JSON.stringify({ result: { task: { id: "1", status: { state: "TASK_STATE_WORKING" } } } })}\n\n`,
    ],
    ["one event", "data: x"],
    ["blanks", "\n\n\n\n\n\n"],
  ])("that streams %s for ever is cut off at its limit", async (_what, chunk) => {
    const stream: Answer = (response, { method }) => {
      if (method === "CancelTask") return sendJson(response, {});
      response.writeHead(200, { "content-type": "text/event-stream" });
      return endless(response, chunk.repeat(1000));
    };
    const { error } = await call(stream, { maxAnswerBytes: 262_144 }, streamingCard);
    expect(error).toMatchObject({ code: "RESULT_TOO_LARGE" });
  });

  it("is bounded by max_answer_bytes", async () => {
    const long: Answer = (response, { id }) =>
      sendJson(response, { id, result: { message: { messageId: "1", parts: [{ text: "x".repeat(300_000) }] } } });
    expect((await call(long, { maxAnswerBytes: 262_144 })).error).toMatchObject({ code: "RESULT_TOO_LARGE" });
    expect(await call(long, { maxAnswerBytes: 524_288 })).toMatchObject({ status: "success" });
  });

  it("in many pieces is bounded by max_answer_bytes as a whole", async () => {
    let asked = 0;
    const pieces: Answer = (response, { id, method }) => {
      const artifacts = [{ artifactId: `piece-${++asked}`, parts: [{ text: "x".repeat(100_000) }] }];
      const task = { id: "1", status: { state: "TASK_STATE_WORKING" }, artifacts };
      sendJson(response, { id, result: method === "SendMessage" ? { task } : task });
    };
    const { error } = await call(pieces, { maxAnswerBytes: 262_144 });
    expect(error).toMatchObject({ code: "RESULT_TOO_LARGE" });
    expect(asked).toBeLessThanOrEqual(4);
  });

  it("that never comes ends with the time of the call", async () => {
    const { status, error } = await call(() => {}, { timeoutMs: 100 });
    expect(status).toBe("timeout");
    expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  it("to a request for a stream may be plain JSON", async () => {
    const plain: Answer = (response, { id }) =>
      sendJson(response, { jsonrpc: "2.0", id, result: { message: { messageId: "1", parts: [{ text: "plain" }] } } });
    expect(await call(plain, {}, streamingCard)).toMatchObject({ status: "success", result: { text: "plain" } });
  });

  it("is asked for without a stream if the agent knows none", async () => {
    const sent: unknown[] = [];
    const picky: Answer = (response, { id, method }) => {
      sent.push(method);
      if (method === "SendStreamingMessage")
        return sendJson(response, { id, error: { code: -32004, message: "This operation is not supported" } });
      sendJson(response, { id, result: { message: { messageId: "1", parts: [{ text: "plain" }] } } });
    };
    expect(await call(picky, {}, streamingCard)).toMatchObject({ status: "success", result: { text: "plain" } });
    expect(sent).toEqual(["SendStreamingMessage", "SendMessage"]);
  });
});

describe("a stream that breaks", () => {
  it.each(["JSONRPC", "HTTP+JSON"] as const)("is taken up again, and the message is sent once: %s", async (binding) => {
    const agent = cleanUp.use(await startTestAgent({ binding }));
    const arsenal = cleanUp.use(new ToolArsenal());
    const broken = Promise.withResolvers<void>();
    // The wait before the task is looked at again begins once the stream is known to be broken.
    const clock: Clock = {
      ...systemClock,
      after: (_ms, callback, options) => (broken.resolve(), systemClock.after(0, callback, options)),
    };
    await arsenal.add(a2aSource({ name: "weather", url: agent.url, refreshS: 0 }, { clock }));
    const progressed = Promise.withResolvers<void>();
    const running = arsenal.execute({
      toolName: "a2a_weather_forecast",
      arguments: { message: "wait" },
      onProgress: ({ message }) => message === "Looking at the sky" && progressed.resolve(),
    });
    await progressed.promise;
    agent.breakConnections();
    await broken.promise;
    agent.release();
    expect(await running).toMatchObject({ status: "success", result: { state: "completed", text: "It cleared up" } });
    expect(agent.runs).toEqual(["wait"]);
  });

  it("is an unknown outcome, with the task, if the agent is gone", async () => {
    const agent = await startTestAgent();
    const arsenal = cleanUp.use(new ToolArsenal());
    const clock: Clock = { ...systemClock, after: (_ms, callback) => systemClock.after(0, callback) };
    await arsenal.add(a2aSource({ name: "weather", url: agent.url, refreshS: 0 }, { clock }));
    const progressed = Promise.withResolvers<void>();
    const running = arsenal.execute({
      toolName: "a2a_weather_forecast",
      arguments: { message: "wait" },
      onProgress: ({ message }) => message === "Looking at the sky" && progressed.resolve(),
    });
    await progressed.promise;
    const taskId = await agent.waiting;
    await agent[Symbol.asyncDispose]();
    expect(await running).toMatchObject({
      status: "failure",
      error: {
        code: "OUTCOME_UNKNOWN",
        value: { taskId },
        message: expect.stringContaining(`accepted the task ${taskId}`),
      },
    });
  });
});
