import { describe, expect, it, onTestFinished } from "vitest";
import { createHandler } from "../../../adapters/sources/mcp/call-tool.ts";
import type { JsonObject, RpcNotification } from "../../../adapters/sources/mcp/protocol.ts";
import { RpcError } from "../../../adapters/sources/mcp/protocol.ts";
import { toDraft } from "../../../adapters/sources/mcp/to-draft.ts";
import type {
  Listing,
  McpUpstream,
  UpstreamChange,
  UpstreamRequestOptions,
  UpstreamState,
} from "../../../adapters/sources/mcp/upstream.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import { localOperator } from "../../../guard/principal.ts";
import { createManualClock, type ManualClock } from "../../../testing/manual-clock.ts";
import type { Exchange, Peer, Plane, PlaneSession } from "../plane.ts";
import { createSeal } from "../seal.ts";
import { aggregatePlane } from "./aggregate-plane.ts";

type Answer = (params: JsonObject, options: UpstreamRequestOptions, method: string) => JsonObject | Promise<JsonObject>;

interface FakeUpstream extends McpUpstream {
  readonly settings: McpUpstream["settings"];
  state: UpstreamState;
  readonly subscribed: string[];
  tell(change: UpstreamChange): void;
}

function fake(
  name: string,
  lists: Partial<Record<Listing, readonly JsonObject[] | Promise<readonly JsonObject[]>>> = {},
  answer: Answer = () => ({}),
): FakeUpstream {
  const watchers = new Set<(change: UpstreamChange) => void>();
  const server = { info: {}, capabilities: { completions: {} } };
  const upstream: FakeUpstream = {
    name,
    settings: { name, transport: { kind: "stdio", command: "fake" } },
    state: { kind: "connected", era: "modern", protocolVersion: "2026-07-28", server },
    subscribed: [],
    attempted: Promise.resolve(),
    tell: (change) => watchers.forEach((watcher) => watcher(change)),
    watch(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    list: async (listing) => lists[listing] ?? [],
    request: async (method, params = {}, options = {}) => answer(params, options, method),
    async subscribe(uri, { signal }) {
      upstream.subscribed.push(uri);
      signal.addEventListener("abort", () => upstream.subscribed.splice(upstream.subscribed.indexOf(uri), 1));
    },
    openSession: () => Promise.reject(new Error("not here")),
    close: async () => undefined,
  };
  return upstream;
}

interface Served {
  readonly plane: Plane;
  readonly clock: ManualClock;
  readonly upstreams: FakeUpstream[];
  readonly arsenal: ToolArsenal;
  changeUpstreams(): void;
}

async function serve(...upstreams: FakeUpstream[]): Promise<Served> {
  const clock = createManualClock();
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  let changed = (): void => undefined;
  const plane = aggregatePlane({
    arsenal,
    upstreams: () => upstreams,
    watchUpstreams: (listener) => {
      changed = listener;
      return () => undefined;
    },
    mode: "static",
    seal: createSeal(),
    info: { name: "toolarsenal" },
    clock,
  });
  onTestFinished(() => plane.close());
  for (const upstream of upstreams) {
    await arsenal.addEnsemble({
      name: upstream.name,
      kind: "mcp",
      connect: async () => undefined,
      list: async () =>
        (await upstream.list("tools")).map((tool) => ({
          draft: toDraft(tool, upstream.settings),
          handler: createHandler(tool, upstream),
        })),
      disconnect: async () => undefined,
    });
  }
  return { plane, clock, upstreams, arsenal, changeUpstreams: () => changed() };
}

const modern: Peer = { era: "modern", protocolVersion: "2026-07-28", capabilities: {}, principal: localOperator() };
const legacy: Peer = { ...modern, era: "legacy", protocolVersion: "2025-11-25" };

function exchange(method: string, params: JsonObject = {}, more: Partial<Exchange> = {}): Exchange {
  return {
    id: 1,
    method,
    params,
    peer: modern,
    signal: new AbortController().signal,
    notify: () => undefined,
    ask: () => Promise.reject(new Error("nobody asks")),
    headers: {},
    ...more,
  };
}

const send = (plane: Plane, method: string, params?: JsonObject, more?: Partial<Exchange>): Promise<JsonObject> =>
  plane.shared.handle(exchange(method, params, more));

async function open(plane: Plane): Promise<{ session: PlaneSession; pushed: RpcNotification[] }> {
  const pushed: RpcNotification[] = [];
  const push = (one: RpcNotification): void => void pushed.push(one);
  return { session: await plane.openSession(legacy, { push, ask: () => Promise.reject() }), pushed };
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
    const { plane } = await serve(fake("box", { tools: [listed] }));
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
    const box = fake("box", { tools: [tool] }, () => result);
    const { plane } = await serve(box);
    expect(await send(plane, "tools/call", { name: "box-run_it" })).toEqual({
      ...result,
      content: [
        content[0],
        { type: "resource_link", uri: "toolarsenal:box/file:///a", name: "a" },
        { type: "resource", resource: { uri: "toolarsenal:box/memo:b", text: "b" } },
      ],
    });
  });

  it("passes its server's own error on, with code and data", async () => {
    const box = fake("box", { tools: [tool] }, () => {
      throw new RpcError({ code: -32042, message: "Sign in first", data: { url: "https://a" } });
    });
    const { plane } = await serve(box);
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
    const box = fake("box", { tools: [tool] }, (params, { onNotification }) => {
      given = params;
      const progress = say("notifications/progress", { progressToken: 7, progress: 1 });
      onNotification?.(progress);
      onNotification?.(progress);
      onNotification?.(say("notifications/message", { level: "info", data: "x" }));
      onNotification?.(say("notifications/tools/list_changed", {}));
      return { content: [] };
    });
    const { plane } = await serve(box);
    const params = { name: "box-run_it", arguments: { x: 1 }, _meta: { progressToken: 7, "a/b": 1 } };
    await send(plane, "tools/call", params, { notify: (one) => void told.push(one) });
    expect(given).toEqual({ name: "Run-It", arguments: { x: 1 }, _meta: { progressToken: 7, "a/b": 1 } });
    expect(told.map(({ method }) => method)).toEqual(["notifications/progress", "notifications/message"]);
  });

  it("is quiet below the level that a session set, and a new server is told the level", async () => {
    const box = fake("box", { tools: [tool] }, ({ _meta }, { onNotification }) => {
      for (const level of ["info", "error"])
        onNotification?.({ jsonrpc: "2.0", method: "notifications/message", params: { level } });
      return { content: [], given: _meta };
    });
    const { plane } = await serve(box);
    const { session } = await open(plane);
    expect(await session.handle(exchange("logging/setLevel", { level: "warning" }))).toEqual({});
    const told: unknown[] = [];
    const more = { peer: legacy, notify: (one: RpcNotification) => void told.push(one.params) };
    const result = await session.handle(exchange("tools/call", { name: "box-run_it" }, more));
    expect(told).toEqual([{ level: "error" }]);
    expect(result["given"]).toEqual({ "io.modelcontextprotocol/logLevel": "warning" });
    await expect(session.handle(exchange("logging/setLevel", { level: "loud" }))).rejects.toMatchObject({
      code: -32602,
    });
  });

  it("may ask the client only where the client said that it can be asked", async () => {
    const asks: unknown[] = [];
    const box = fake("box", { tools: [tool] }, (_params, { ask, passInputRequired }) => {
      asks.push([ask !== undefined, passInputRequired]);
      return { content: [] };
    });
    const { plane } = await serve(box);
    const capabilities = { elicitation: {} };
    for (const peer of [modern, { ...modern, capabilities }, { ...legacy, capabilities }])
      await send(plane, "tools/call", { name: "box-run_it" }, { peer });
    expect(asks).toEqual([
      [false, true],
      [true, true],
      [true, false],
    ]);
  });
});

describe("input that a server requires", () => {
  const inputRequests = { who: { method: "elicitation/create", params: {} } };
  const box = (): FakeUpstream =>
    fake("box", { tools: [tool, { ...tool, name: "other" }] }, (params) =>
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
    const { plane } = await serve(box());
    const asked = await send(plane, method, params);
    expect(asked).toEqual({ resultType: "input_required", inputRequests, requestState: expect.any(String) });
    const { requestState } = asked;
    expect(requestState).not.toContain("exactly this");
    const repeated = await send(plane, method, { ...params, ...answers, requestState, _meta: { other: 1 } });
    expect(repeated["given"]).toBe("exactly this");
  });

  it("is taken from nobody else, for nothing else, and in no other form", async () => {
    const { plane } = await serve(box());
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
    const { plane } = await serve(box());
    const result = await send(plane, "tools/call", { name: "box-run_it" }, { peer: legacy });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("cannot be asked") }] });
    const prompt = send(plane, "prompts/get", { name: "box-hello" }, { peer: legacy });
    await expect(prompt).rejects.toMatchObject({ message: expect.stringContaining("cannot be asked") });
  });
});

describe("resources and prompts", () => {
  const lists = {
    resources: [{ uri: "file:///a", name: "a", mimeType: "text/plain" }, { uri: "memo:b" }, { name: "no uri" }],
    resourceTemplates: [{ uriTemplate: "file:///{+path}", name: "file" }],
    prompts: [{ name: "hello", arguments: [{ name: "who" }] }, { name: "Größe?" }, {}],
  };
  const echo: Answer = (params, _options, method) => ({ params, method });

  it("of all servers are listed, with names that lead back", async () => {
    const { plane } = await serve(fake("one", lists), fake("two", { prompts: [{ name: "hello" }] }));
    expect(await send(plane, "resources/list")).toEqual({
      resources: [
        { uri: "toolarsenal:one/file:///a", name: "a", mimeType: "text/plain" },
        { uri: "toolarsenal:one/memo:b", name: "memo:b" },
      ],
    });
    expect(await send(plane, "resources/templates/list")).toEqual({
      resourceTemplates: [{ uriTemplate: "toolarsenal:one/file:///{+path}", name: "file" }],
    });
    expect(await send(plane, "prompts/list")).toEqual({
      prompts: [
        { name: "one-hello", arguments: [{ name: "who" }] },
        { name: expect.stringMatching(/^one_grosse-0[0-9a-f]{12}$/) },
        { name: "two-hello" },
      ],
    });
  });

  it("are read, got and completed at the server they belong to, under their own names", async () => {
    const { plane } = await serve(fake("one", lists), fake("two", lists, echo));
    const asked = async (method: string, params: JsonObject): Promise<unknown> =>
      (await send(plane, method, params))["params"];
    const served = ((await send(plane, "prompts/list"))["prompts"] as { name: string }[]).map(({ name }) => name);
    expect(await asked("resources/read", { uri: "toolarsenal:two/file:///x" })).toEqual({ uri: "file:///x" });
    expect(await asked("prompts/get", { name: "two-hello", arguments: { who: "x" } })).toEqual({
      name: "hello",
      arguments: { who: "x" },
    });
    expect(await asked("prompts/get", { name: served[3] })).toEqual({ name: "Größe?" });
    const argument = { name: "who", value: "" };
    expect(await asked("completion/complete", { ref: { type: "ref/prompt", name: "two-hello" }, argument })).toEqual({
      ref: { type: "ref/prompt", name: "hello" },
      argument,
    });
    const uri = "toolarsenal:two/file:///{+path}";
    expect(await asked("completion/complete", { ref: { type: "ref/resource", uri }, argument })).toEqual({
      ref: { type: "ref/resource", uri: "file:///{+path}" },
      argument,
    });
  });

  it("have their URIs in what is read and got as clients know them", async () => {
    const link = { type: "resource_link", uri: "memo:b", name: "b" };
    const answer: Answer = () => ({
      contents: [{ uri: "file:///a", text: "a" }],
      messages: [
        { role: "user", content: link },
        { role: "user", content: [link] },
        { role: "user", content: { type: "text", text: "memo:b" } },
      ],
    });
    const { plane } = await serve(fake("one", lists, answer));
    const rewritten = { ...link, uri: "toolarsenal:one/memo:b" };
    expect(await send(plane, "resources/read", { uri: "toolarsenal:one/file:///a" })).toEqual({
      contents: [{ uri: "toolarsenal:one/file:///a", text: "a" }],
      messages: [
        { role: "user", content: rewritten },
        { role: "user", content: [rewritten] },
        { role: "user", content: { type: "text", text: "memo:b" } },
      ],
    });
  });

  it.each<[string, JsonObject, number]>([
    ["resources/read", { uri: "file:///a" }, -32002],
    ["resources/read", { uri: "toolarsenal:three/file:///a" }, -32002],
    ["resources/read", {}, -32602],
    ["prompts/get", { name: "hello" }, -32602],
    ["prompts/get", { name: "three-hello" }, -32602],
    ["prompts/get", { name: 3 }, -32602],
    ["completion/complete", { ref: { type: "ref/tool", name: "x" } }, -32602],
    ["completion/complete", {}, -32602],
    ["resources/subscribe", { uri: "toolarsenal:one/file:///a" }, -32601],
    ["tasks/list", {}, -32601],
  ])("that are not there are errors: %s %j", async (method, params, code) => {
    const { plane } = await serve(fake("one", lists));
    await expect(send(plane, method, params)).rejects.toMatchObject({ code });
  });

  it("complete to nothing where the server completes nothing", async () => {
    const one = fake("one", lists, () => ({ completion: { values: ["x"] } }));
    const { plane } = await serve(one);
    const params = { ref: { type: "ref/prompt", name: "one-hello" }, argument: {} };
    expect(await send(plane, "completion/complete", params)).toEqual({ completion: { values: ["x"] } });
    if (one.state.kind === "connected") one.state = { ...one.state, server: { info: {}, capabilities: {} } };
    expect(await send(plane, "completion/complete", params)).toEqual({ completion: { values: [] } });
  });
});

describe("a server that fails, hangs or is away", () => {
  const prompts = [{ name: "hello" }];
  const names = async (plane: Plane): Promise<unknown> =>
    ((await send(plane, "prompts/list"))["prompts"] as { name: string }[]).map(({ name }) => name);

  it("keeps the lists of the others from nobody, and is told of when it comes", async () => {
    const { promise: slow, resolve } = Promise.withResolvers<readonly JsonObject[]>();
    const failing = fake("failing", { prompts: Promise.reject(new Error("broken")) });
    const { plane, clock } = await serve(fake("good", { prompts }), failing, fake("hung", { prompts: slow }));
    const { pushed } = await open(plane);
    const listing = names(plane);
    await clock.advance(3_000);
    expect(await listing).toEqual(["good-hello"]);
    resolve(prompts);
    await clock.advance(100);
    expect(pushed.map(({ method }) => method)).toContain("notifications/prompts/list_changed");
    expect(await names(plane)).toEqual(["good-hello", "hung-hello"]);
  });

  it("keeps what it listed before while it is away", async () => {
    const one = fake("one", { prompts });
    const { plane } = await serve(one);
    expect(await names(plane)).toEqual(["one-hello"]);
    one.list = () => Promise.reject(new Error("away"));
    one.state = { kind: "failed", error: new Error("away"), retryAt: 0 };
    expect(await names(plane)).toEqual(["one-hello"]);
    one.state = { kind: "closed" };
    expect(await names(plane)).toEqual([]);
  });
});
