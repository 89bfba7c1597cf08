import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestAgent, type TestAgent, type TestAgentOptions } from "../../../../test/a2a/test-agent.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import type { ToolResult } from "../../../execute/result.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { sourceContract } from "../../../testing/source.contract.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import type { Progress } from "../../../tool/handler.ts";
import { a2aSource } from "./a2a.ts";
import type { A2aAgentSettings } from "./settings.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

/** Waits for nothing, so that what is looked at again and again is so at once. */
const hasty: Clock = { ...systemClock, after: (_ms, callback, options) => systemClock.after(0, callback, options) };

async function startAgent(options?: TestAgentOptions): Promise<TestAgent> {
  return cleanUp.use(await startTestAgent(options));
}

async function arsenalWith(agent: TestAgent, settings: Partial<A2aAgentSettings> = {}): Promise<ToolArsenal> {
  const arsenal = cleanUp.use(new ToolArsenal());
  await arsenal.addA2aAgent({ name: "weather", url: agent.url, refreshS: 0, ...settings });
  return arsenal;
}

const TOOL = "weather.a2a_weather_forecast";
const ask = (arsenal: ToolArsenal, message: string, more: object = {}): Promise<ToolResult> =>
  arsenal.execute({ toolName: TOOL, arguments: { message, ...more } });

describe("the source contract", () => {
  for (const { name, run } of sourceContract(async () => {
    const agent = await startTestAgent();
    const adapter = a2aSource({ name: "weather", url: agent.url });
    return { adapter, cleanUp: () => agent[Symbol.asyncDispose]() };
  }))
    it(name, run);
});

describe("the skills of an agent", () => {
  it("are tools a2a_AGENT_SKILL in the agent's namespace [000-8.2-skills-to-tools] [000-14-add-a2a-agent]", async () => {
    const agent = await startAgent();
    const arsenal = cleanUp.use(new ToolArsenal());
    expect(await arsenal.addA2aAgent({ name: "weather", url: agent.url })).toBe(2);
    const tools = await arsenal.listTools();
    expect(tools.map(({ id }) => id)).toEqual(["weather.a2a_weather_forecast", "weather.a2a_weather_move_funds"]);
    expect(tools[0]).toMatchObject({
      source: "a2a",
      title: "Forecast",
      description: "Tells the weather of the coming days for a city.\n\nBy the agent Weather agent: Knows the weather.",
      tags: ["weather", "meteorology"],
      examples: ["Will it rain in Oslo tomorrow?"],
      capabilities: ["network_access"],
      parameters: { required: ["message"] },
    });
  });

  it("are found by their tags and examples", async () => {
    const arsenal = await arsenalWith(await startAgent());
    const { tools } = await arsenal.retrieve({ context: { query: "will it rain in Oslo tomorrow" } });
    expect(tools[0]?.tool.id).toBe(TOOL);
  });

  it("are one tool for the whole agent if its card names none", async () => {
    const arsenal = await arsenalWith(await startAgent({ card: { skills: [] } }));
    expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["weather.a2a_weather"]);
    const result = await arsenal.execute({ toolName: "a2a_weather", arguments: { message: "hello" } });
    expect(result).toMatchObject({ status: "success", result: { text: "Hello yourself" } });
  });
});

const FORMS = (["1.0", "0.3"] as const).flatMap((version) =>
  (["JSONRPC", "HTTP+JSON"] as const).flatMap((binding) =>
    [true, false].map((streaming) => ({ version, binding, streaming })),
  ),
);

describe.each(FORMS)("an agent of $version over $binding, streaming $streaming", (form) => {
  async function arsenalFor(agent: TestAgent): Promise<ToolArsenal> {
    if (form.streaming) return arsenalWith(agent);
    const arsenal = cleanUp.use(new ToolArsenal());
    await arsenal.add(a2aSource({ name: "weather", url: agent.url, refreshS: 0 }, { clock: hasty }));
    return arsenal;
  }

  it("runs a task to its end and tells its progress [000-5.4-a2a]", async () => {
    const agent = await startAgent(form);
    const arsenal = await arsenalFor(agent);
    const told: Progress[] = [];
    const requests: ArsenalEvent[] = [];
    arsenal.subscribe((event) => void (event.name === "upstream-called" && requests.push(event)));
    const result = await arsenal.execute({
      toolName: TOOL,
      arguments: { message: "today", data: { city: "Oslo" } },
      onProgress: (progress) => void told.push(progress),
    });
    expect(result).toMatchObject({
      status: "success",
      result: { state: "completed", text: "Sunny\n\nDone", taskId: expect.any(String), contextId: expect.any(String) },
    });
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
    if (form.streaming) expect(told.map(({ message }) => message)).toContain("Looking at the sky");
    expect(agent.runs).toEqual(["today"]);
    expect(agent.messages[0]).toMatchObject({
      metadata: { skillId: "forecast" },
      parts: [{ content: { value: "today" } }, { content: { $case: "data", value: { city: "Oslo" } } }],
    });
    const call = agent.seen.find(({ url }) => url.startsWith("/agent"));
    expect(call?.headers["a2a-version"]).toBe(form.version);
    expect(call?.headers["traceparent"]).toMatch(new RegExp(`^00-${result.traceId}-[0-9a-f]{16}-01$`));
    await arsenal.close();
    expect(requests[0]).toMatchObject({
      data: {
        toolId: TOOL,
        source: "a2a",
        method: form.streaming ? "SendStreamingMessage" : "SendMessage",
        target: "forecast",
        address: "127.0.0.1",
        protocolVersion: form.version,
        status: expect.any(Number),
        spanId: call?.headers["traceparent"]?.toString().split("-")[2],
      },
    });
  });

  it("answers with a message instead of a task", async () => {
    const arsenal = await arsenalFor(await startAgent(form));
    expect(await ask(arsenal, "hello")).toMatchObject({
      status: "success",
      result: { state: "completed", text: "Hello yourself" },
    });
  });

  it("asks back, and goes on when the call is repeated with the task and the answer", async () => {
    const arsenal = await arsenalFor(await startAgent(form));
    const pending = await ask(arsenal, "ask");
    expect(pending).toMatchObject({
      status: "success",
      result: {
        state: "input-required",
        text: "Which city?",
        next: "Call a2a_weather_forecast again with this taskId and contextId, and the answer as message.",
      },
    });
    const { taskId, contextId } = pending.result as { taskId: string; contextId: string };
    expect(await ask(arsenal, "Oslo", { taskId, contextId })).toMatchObject({
      status: "success",
      result: { state: "completed", text: expect.stringContaining("You said Oslo"), taskId },
    });
  });

  it.each([
    ["fail", "The agent weather failed: The sensors are down"],
    ["reject", "The agent weather rejected the task: Not my job"],
    [
      "log in",
      /needs an authorization before it continues: Log in at .+ call a2a_weather_forecast again with taskId "/,
    ],
  ])("reports a task that ends otherwise: %s", async (message, expected) => {
    const arsenal = await arsenalFor(await startAgent(form));
    const { status, error } = await ask(arsenal, message);
    expect(status).toBe("failure");
    expect(error).toMatchObject({ code: "EXECUTION_FAILED", answered: true, message: expect.stringMatching(expected) });
  });

  it("is told when the call is cancelled", async () => {
    const agent = await startAgent(form);
    const arsenal = await arsenalWith(agent);
    const controller = new AbortController();
    const running = arsenal.execute({
      toolName: TOOL,
      arguments: { message: "wait" },
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    expect(await running).toMatchObject({ status: "cancelled" });
    expect(await agent.cancelled).toBe(await agent.waiting);
  });

  it("gives texts, data and files of one answer, large files only by name", async () => {
    const arsenal = await arsenalFor(await startAgent(form));
    const { result } = await ask(arsenal, "files");
    // Files have no names in 0.3 over HTTP.
    const named = (name: string) => (form.version === "0.3" && form.binding === "HTTP+JSON" ? {} : { name });
    expect(result).toMatchObject({
      text: "See the map",
      data: [{ degrees: 21 }],
      files: [
        { ...named("map.png"), mediaType: "image/png", url: "https://weather.example.com/map.png" },
        { ...named("small.bin"), bytes: 3, base64: Buffer.from("abc").toString("base64") },
        { ...named("huge.bin"), mediaType: "application/octet-stream", bytes: 1_100_000 },
      ],
    });
    expect(JSON.stringify(result).length).toBeLessThan(2000);
  });
});

describe.each([
  ["the arsenal is closed", (arsenal: ToolArsenal) => arsenal.close()],
  ["the agent is removed", (arsenal: ToolArsenal) => arsenal.remove("weather")],
])("when %s", (_what, end) => {
  it.each([true, false])("its tasks are cancelled before it is left, streaming %s", async (streaming) => {
    const agent = await startAgent({ streaming });
    const arsenal = await arsenalWith(agent);
    const began = Promise.withResolvers<void>();
    const running = arsenal.execute({
      toolName: TOOL,
      arguments: { message: "wait" },
      onProgress: () => began.resolve(),
    });
    await began.promise;
    await end(arsenal);
    expect(agent.isCancelled()).toBe(true);
    expect(await running).toMatchObject({ error: { code: "OUTCOME_UNKNOWN" } });
  });
});
