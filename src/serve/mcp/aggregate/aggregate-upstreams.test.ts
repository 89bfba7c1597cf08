import { type McpSource, mcpSource } from "../../../adapters/sources/mcp/mcp.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { exchange, legacy, modern, send } from "../../../../test/mcp/served-aggregate.ts";
import type { JsonObject, RpcNotification } from "../../../mcp/protocol.ts";
import { RpcError } from "../../../mcp/protocol.ts";
import { createHandler, toDraft } from "../../../adapters/sources/mcp/upstream/server-tool.ts";
import type { McpUpstream, UpstreamRequestOptions } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { localOperator } from "../../../guard/principal.ts";
import type { SourceDraft } from "../../../tool/draft.ts";
import type { Handler } from "../../../tool/handler.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import type { Plane } from "../plane.ts";
import { createSeal } from "../modern/seal.ts";
import { type AggregateParts, aggregatePlane } from "./aggregate-plane.ts";

type Answer = (params: JsonObject, options: UpstreamRequestOptions) => JsonObject;

/** A server with some tools that answers every request alike. */
function fake(tools: readonly JsonObject[], answer: Answer = () => ({})): McpUpstream {
  const server = { info: {}, capabilities: {} };
  return {
    name: "box",
    settings: { name: "box", transport: { kind: "stdio", command: "fake" } },
    state: { kind: "connected", era: "modern", protocolVersion: "2026-07-28", server },
    attempted: Promise.resolve(),
    retry: async () => {},
    watch: () => () => undefined,
    list: async (listing) => (listing === "tools" ? tools : []),
    request: async (_method, params = {}, options = {}) => answer(params, options),
    subscribe: async () => undefined,
    openSession: () => Promise.reject(new Error("not here")),
    close: async () => undefined,
  };
}

function planeOf(arsenal: AggregateParts["arsenal"], box: McpUpstream): Plane {
  const plane = aggregatePlane({ arsenal, upstreams: () => [box], mode: "static", seal: createSeal() });
  onTestFinished(() => plane.close());
  return plane;
}

async function serve(box: McpUpstream): Promise<Plane> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const source: McpSource = {
    name: box.name,
    kind: "mcp",
    upstream: box,
    connect: async () => undefined,
    list: async () =>
      (await box.list("tools")).map((one) => ({ draft: toDraft(one, box.settings), handler: createHandler(one, box) })),
    disconnect: async () => undefined,
  };
  await arsenal.add(source);
  return planeOf(arsenal, box);
}

const tool = { name: "Run-It", inputSchema: { type: "object", properties: { x: { type: "integer" } } } };

describe("an MCP server's tool", () => {
  it("is listed with what its server said of it", async () => {
    const listed = {
      ...tool,
      description: "Runs it, and says how it went.",
      annotations: { title: "Run", readOnlyHint: true, destructiveHint: "yes", vendor: 1 },
      icons: [{ src: "https://a/b.png" }, { source: 1 }],
      _meta: { "a/b": 1 },
    };
    const plane = await serve(fake([listed]));
    expect(await send(plane, "tools/list")).toEqual({
      tools: [
        {
          ...listed,
          name: "box-run_it",
          title: "Run",
          annotations: { title: "Run", readOnlyHint: true, vendor: 1 },
          icons: [{ src: "https://a/b.png" }],
        },
      ],
    });
  });

  it("answers with its server's result unchanged but for URIs, errors too", async () => {
    const content = [
      { type: "text", text: "see file:///a" },
      { type: "resource_link", uri: "file:///a", name: "a" },
      { type: "resource", resource: { uri: "memo:b", text: "b" } },
    ];
    const result = { content, structuredContent: { uri: "file:///a" }, isError: true, extra: 1, _meta: { x: 1 } };
    const box = fake([tool], () => result);
    const plane = await serve(box);
    expect(await send(plane, "tools/call", { name: "box-run_it" })).toEqual({
      ...result,
      content: [
        content[0],
        { type: "resource_link", uri: "toolarsenal:box/file:///a", name: "a" },
        { type: "resource", resource: { uri: "toolarsenal:box/memo:b", text: "b" } },
      ],
    });
  });

  it("has its URIs changed also where its name had to be cut", async () => {
    const content = [{ type: "resource_link", uri: "memo:a", name: "a" }];
    const plane = await serve(fake([{ ...tool, name: "x".repeat(200) }], () => ({ content })));
    const [{ name } = { name: "" }] = (await send(plane, "tools/list"))["tools"] as { name: string }[];
    expect(name).toHaveLength(64);
    expect(await send(plane, "tools/call", { name })).toEqual({
      content: [{ type: "resource_link", uri: "toolarsenal:box/memo:a", name: "a" }],
    });
  });

  it("passes its server's own error on, with code and data", async () => {
    const box = fake([tool], () => {
      throw new RpcError({ code: -32042, message: "Sign in first", data: { url: "https://a" } });
    });
    const plane = await serve(box);
    await expect(send(plane, "tools/call", { name: "box-run_it" })).rejects.toMatchObject({
      code: -32042,
      message: "Sign in first",
      data: { url: "https://a" },
    });
  });

  it("gets the caller's _meta, and the caller its progress and logs but not its list changes", async () => {
    const told: RpcNotification[] = [];
    const say = (method: string, params: JsonObject): RpcNotification => ({ jsonrpc: "2.0", method, params });
    let given: JsonObject = {};
    const box = fake([tool], (params, { onNotification }) => {
      given = params;
      const progress = say("notifications/progress", { progressToken: 7, progress: 1 });
      onNotification?.(progress);
      onNotification?.(progress);
      onNotification?.(say("notifications/message", { level: "info", data: "x" }));
      onNotification?.(say("notifications/tools/list_changed", {}));
      return { content: [] };
    });
    const plane = await serve(box);
    const params = { name: "box-run_it", arguments: { x: 1 }, _meta: { progressToken: 7, "a/b": 1 } };
    await send(plane, "tools/call", params, { notify: (one) => void told.push(one) });
    const traceparent = expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(given).toEqual({ name: "Run-It", arguments: { x: 1 }, _meta: { progressToken: 7, "a/b": 1, traceparent } });
    expect(told.map(({ method }) => method)).toEqual(["notifications/progress", "notifications/message"]);
  });

  it("is quiet below the level that a session set, and a new server is told the level", async () => {
    const box = fake([tool], ({ _meta }, { onNotification }) => {
      for (const level of ["info", "error"])
        onNotification?.({ jsonrpc: "2.0", method: "notifications/message", params: { level } });
      return { content: [], given: _meta };
    });
    const plane = await serve(box);
    const channel = { push: () => undefined, ask: () => Promise.reject() };
    const session = await plane.openSession(legacy, channel);
    expect(await session.handle(exchange("logging/setLevel", { level: "warning" }))).toEqual({});
    const told: unknown[] = [];
    const more = { peer: legacy, notify: (one: RpcNotification) => void told.push(one.params) };
    const result = await session.handle(exchange("tools/call", { name: "box-run_it" }, more));
    expect(told).toEqual([{ level: "error" }]);
    expect(result["given"]).toMatchObject({ "io.modelcontextprotocol/logLevel": "warning" });
    await expect(session.handle(exchange("logging/setLevel", { level: "loud" }))).rejects.toMatchObject({
      code: -32602,
    });
  });

  it("may ask the client only where the client said that it can be asked", async () => {
    const asks: unknown[] = [];
    const box = fake([tool], (_params, { ask, passInputRequired }) => {
      asks.push([ask !== undefined, passInputRequired]);
      return { content: [] };
    });
    const plane = await serve(box);
    const capabilities = { elicitation: {} };
    for (const peer of [modern, { ...modern, capabilities }, { ...legacy, capabilities }])
      await send(plane, "tools/call", { name: "box-run_it" }, { peer });
    expect(asks).toEqual([
      [false, true],
      [true, true],
      [true, false],
    ]);
  });

  it("does not answer with what an earlier attempt said where the last one got no answer", async () => {
    const clock = createManualClock();
    let attempts = 0;
    const box = fake([tool], () => {
      attempts += 1;
      if (attempts === 1) return { content: [{ type: "text", text: "busy" }], isError: true };
      throw new ArsenalError("TRANSPORT_FAILED", "The connection was lost.");
    });
    const config = { telemetry: { enabled: false }, execution: { maxRetries: 2 } };
    const arsenal = new ToolArsenal({ ...config, clock });
    const safe = { readOnly: true, confirmed: true };
    const described = { name: "look", namespace: "box", description: "Looks at it.", annotations: safe };
    await arsenal.addTool({ ...described, parameters: { type: "object" } }, createHandler(tool, box));
    const calling = send(planeOf(arsenal, box), "tools/call", { name: "box-look" });
    await clock.advance(60_000);
    expect(await calling).toMatchObject({ _meta: { "toolarsenal/error": { code: "TRANSPORT_FAILED" } } });
    expect(attempts).toBe(2);
  });

  it("has five minutes if a person may be asked, unless somebody set another time", async () => {
    const peer = { ...modern, capabilities: { elicitation: {} } };
    const seconds: number[] = [];
    for (const timeoutMs of [undefined, 5_000]) {
      await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, clock: createManualClock(0) });
      const box = fake([tool]);
      const settings = timeoutMs === undefined ? box.settings : { ...box.settings, timeoutMs };
      const { timeoutMs: own, askingTimeoutMs, disconnect } = mcpSource(settings);
      await disconnect();
      const handler: Handler = (_, { deadline }) => void seconds.push((deadline ?? 0) / 1000);
      const draft = { name: "run", source: "mcp", description: "Runs it at once.", parameters: tool["inputSchema"] };
      await arsenal.add({
        name: "box",
        kind: "mcp",
        timeoutMs: own,
        askingTimeoutMs,
        connect: async () => {},
        list: async () => [{ draft: draft as SourceDraft, handler }],
        disconnect: async () => {},
      });
      await send(planeOf(arsenal, box), "tools/call", { name: "box-run" }, { peer });
      await send(planeOf(arsenal, box), "tools/call", { name: "box-run" });
    }
    expect(seconds).toEqual([300, 60, 5, 5]);
  });
});

describe("input that a server requires", () => {
  const inputRequests = { who: { method: "elicitation/create", params: {} } };
  const box = (): McpUpstream =>
    fake([tool, { ...tool, name: "other" }], (params) =>
      params["inputResponses"] === undefined
        ? { resultType: "input_required", inputRequests, requestState: "exactly this" }
        : { content: [], messages: [], given: params["requestState"] },
    );
  const answers = { inputResponses: { who: { action: "accept" } } };

  it.each([
    ["a tool", "tools/call", { name: "box-run_it", arguments: { x: 1 } }],
    ["a prompt", "prompts/get", { name: "box-hello", arguments: { a: "b" } }],
    ["a resource", "resources/read", { uri: "toolarsenal:box/memo:a" }],
  ])("is asked of a new client for %s, and its server gets its exact state back", async (_what, method, params) => {
    const plane = await serve(box());
    const asked = await send(plane, method, params);
    expect(asked).toEqual({ resultType: "input_required", inputRequests, requestState: expect.any(String) });
    const { requestState } = asked;
    expect(requestState).not.toContain("exactly this");
    const repeated = await send(plane, method, { ...params, ...answers, requestState, _meta: { other: 1 } });
    expect(repeated["given"]).toBe("exactly this");
  });

  it("is taken from nobody else, for nothing else, and in no other form", async () => {
    const plane = await serve(box());
    const params = { name: "box-run_it", arguments: { x: 1 } };
    const { requestState } = await send(plane, "tools/call", params);
    const repeat = { ...params, ...answers, requestState };
    const stranger = { peer: { ...modern, principal: { ...localOperator(), id: "mallory" } } };
    const refused = { code: -32602, message: expect.stringContaining("requestState") };
    await expect(send(plane, "tools/call", repeat, stranger)).rejects.toMatchObject(refused);
    await expect(send(plane, "tools/call", { ...repeat, name: "box-other" })).rejects.toMatchObject(refused);
    await expect(send(plane, "tools/call", { ...repeat, arguments: { x: 2 } })).rejects.toMatchObject(refused);
    await expect(send(plane, "tools/call", { ...repeat, requestState: "exactly this" })).rejects.toMatchObject(refused);
    await expect(send(plane, "tools/call", { ...repeat, requestState: 3 })).rejects.toMatchObject(refused);
  });

  it("that an old client cannot be asked for is an error it can read", async () => {
    const plane = await serve(box());
    const result = await send(plane, "tools/call", { name: "box-run_it" }, { peer: legacy });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("does not support questions") }],
    });
    const prompt = send(plane, "prompts/get", { name: "box-hello" }, { peer: legacy });
    await expect(prompt).rejects.toMatchObject({ message: expect.stringContaining("does not support questions") });
  });
});
