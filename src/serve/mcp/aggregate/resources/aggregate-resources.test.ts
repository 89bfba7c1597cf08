import { describe, expect, it, onTestFinished } from "vitest";
import { exchange, legacy, modern, send } from "../../../../../test/mcp/served-aggregate.ts";
import type { JsonObject, RpcNotification } from "../../../../mcp/protocol.ts";
import type {
  Listing,
  McpUpstream,
  UpstreamChange,
  UpstreamRequestOptions,
  UpstreamState,
} from "../../../../adapters/sources/mcp/upstream/upstream.ts";
import type { McpSource } from "../../../../adapters/sources/mcp/mcp.ts";
import { ToolArsenal } from "../../../../arsenal.ts";
import { createManualClock, type ManualClock } from "../../../../testing/manual-clock.ts";
import type { Plane, PlaneSession } from "../../plane.ts";
import { createSeal } from "../../modern/seal.ts";
import { aggregatePlane } from "../aggregate-plane.ts";

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
    retry: async () => {},
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
}

/** A source without tools, by which the arsenal knows of a server. */
function sourceOf(upstream: McpUpstream): McpSource {
  const { name } = upstream;
  const nothing = async (): Promise<void> => undefined;
  return { name, kind: "mcp", upstream, connect: nothing, list: async () => [], disconnect: nothing };
}

async function serve(...upstreams: FakeUpstream[]): Promise<Served> {
  const clock = createManualClock();
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  for (const upstream of upstreams) await arsenal.add(sourceOf(upstream));
  const plane = aggregatePlane({
    arsenal,
    upstreams: () => upstreams,
    mode: "static",
    seal: createSeal(),
    clock,
  });
  onTestFinished(() => plane.close());
  return { plane, clock, upstreams, arsenal };
}

async function open(plane: Plane): Promise<{ session: PlaneSession; pushed: RpcNotification[] }> {
  const pushed: RpcNotification[] = [];
  const push = (one: RpcNotification): void => void pushed.push(one);
  return { session: await plane.openSession(legacy, { push, ask: () => Promise.reject() }), pushed };
}

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
    const asked = async (method: string, params: JsonObject): Promise<unknown> => {
      const { _meta, ...others } = (await send(plane, method, params))["params"] as JsonObject;
      expect(_meta).toEqual({ traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) });
      return others;
    };
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

  it("is not waited for while it connects", async () => {
    const one = fake("one", { prompts: new Promise(() => undefined) });
    one.state = { kind: "connecting" };
    const { plane } = await serve(one);
    expect(await names(plane)).toEqual([]);
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

describe("what changes", () => {
  const methods = (pushed: readonly RpcNotification[]): readonly string[] => pushed.map(({ method }) => method).sort();
  const updated = (uri: string): UpstreamChange => ({
    kind: "notification",
    notification: { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } },
  });

  it("is told to every session, once for all that happens in a moment", async () => {
    const { plane, clock, arsenal, upstreams } = await serve(fake("one"));
    const { session, pushed } = await open(plane);
    const parameters = { type: "object" };
    for (const name of ["first_tool", "second_tool"])
      await arsenal.addTool({ name, description: "One of some tools.", parameters });
    await clock.advance(100);
    expect(methods(pushed)).toEqual(["notifications/tools/list_changed"]);
    pushed.length = 0;
    const [one] = upstreams;
    for (const listing of ["resources", "resourceTemplates", "prompts"] as const)
      one?.tell({ kind: "listed", listing });
    await clock.advance(99);
    expect(pushed).toEqual([]);
    await clock.advance(1);
    const both = ["notifications/prompts/list_changed", "notifications/resources/list_changed"];
    expect(methods(pushed)).toEqual(both);
    pushed.length = 0;
    const two = fake("two");
    upstreams.push(two);
    await arsenal.add(sourceOf(two));
    await clock.advance(100);
    expect(methods(pushed)).toEqual(both);
    two.tell({ kind: "state", state: two.state });
    await clock.advance(100);
    expect(methods(pushed)).toEqual([...both, ...both].sort());
    await session.close();
    two.tell({ kind: "listed", listing: "prompts" });
    await clock.advance(100);
    expect(pushed).toHaveLength(4);
  });

  it("in a resource is told to the sessions that subscribed to it, until they end it or go", async () => {
    const one = fake("one");
    const { plane } = await serve(one, fake("two"));
    const [first, second] = [await open(plane), await open(plane)];
    const params = { uri: "toolarsenal:one/file:///a" };
    await first.session.handle(exchange("resources/subscribe", params));
    await first.session.handle(exchange("resources/subscribe", params));
    await second.session.handle(exchange("resources/subscribe", params));
    expect(one.subscribed).toEqual(["file:///a", "file:///a"]);
    for (const uri of ["file:///a", "file:///a/part", "file:///ab"]) one.tell(updated(uri));
    expect(first.pushed.map((push) => push.params?.["uri"])).toEqual([
      "toolarsenal:one/file:///a",
      "toolarsenal:one/file:///a/part",
    ]);
    await first.session.handle(exchange("resources/unsubscribe", params));
    one.tell(updated("file:///a"));
    expect([first.pushed.length, second.pushed.length]).toEqual([2, 3]);
    await second.session.close();
    expect(one.subscribed).toEqual([]);
  });

  it("is not subscribed to where the server refuses", async () => {
    const one = fake("one");
    const { plane } = await serve(one);
    one.subscribe = () => Promise.reject(new Error("no"));
    const { session, pushed } = await open(plane);
    const subscribing = session.handle(exchange("resources/subscribe", { uri: "toolarsenal:one/file:///a" }));
    await expect(subscribing).rejects.toThrow("no");
    one.tell(updated("file:///a"));
    expect(pushed).toEqual([]);
  });

  it("is told to a new client as far as its filter asks, until it stops listening", async () => {
    const one = fake("one");
    const { plane, clock } = await serve(one);
    const controller = new AbortController();
    const pushed: RpcNotification[] = [];
    const uris = ["toolarsenal:one/file:///a", "toolarsenal:gone/b", 3];
    const filter = { promptsListChanged: true, toolsListChanged: false, resourceSubscriptions: uris, other: true };
    const listening = { peer: modern, signal: controller.signal };
    expect(await plane.listen(filter, (told) => void pushed.push(told), listening)).toEqual({
      promptsListChanged: true,
      resourceSubscriptions: ["toolarsenal:one/file:///a"],
    });
    const happen = async (): Promise<void> => {
      one.tell({ kind: "listed", listing: "prompts" });
      one.tell({ kind: "listed", listing: "resources" });
      one.tell(updated("file:///a"));
      await clock.advance(100);
    };
    await happen();
    expect(methods(pushed)).toEqual(["notifications/prompts/list_changed", "notifications/resources/updated"]);
    controller.abort();
    await happen();
    expect(pushed).toHaveLength(2);
    expect(one.subscribed).toEqual([]);
    await plane.listen(filter, (told) => void pushed.push(told), listening);
    await happen();
    expect([pushed.length, one.subscribed]).toEqual([2, []]);
  });

  it("ends with the plane", async () => {
    const one = fake("one");
    const { plane, clock } = await serve(one);
    const { session, pushed } = await open(plane);
    await session.handle(exchange("resources/subscribe", { uri: "toolarsenal:one/file:///a" }));
    one.tell({ kind: "listed", listing: "prompts" });
    await plane.close();
    await clock.advance(1_000);
    expect([pushed, one.subscribed, clock.pending]).toEqual([[], [], 0]);
  });

  it("is promised before any server has come, and who is behind it is said", async () => {
    const { plane } = await serve(fake("one"), fake("two"));
    expect(await plane.shared.describe()).toEqual({
      info: expect.objectContaining({ name: "toolarsenal" }),
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: "This server offers the tools of one, two.",
    });
  });
});
