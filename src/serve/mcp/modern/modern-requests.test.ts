import { describe, expect, it } from "vitest";
import { aloneOnMemory, modern } from "../../../../test/mcp/sample-endpoint.ts";
import { createSamplePlane, type SamplePlane, text } from "../../../../test/mcp/sample-plane.ts";
import type { JsonObject, RpcNotification, RpcRequest } from "../../../mcp/protocol.ts";
import { localOperator } from "../../../guard/principal.ts";
import { createModernRequests, type ModernRequests, type OngoingRequest } from "./modern-requests.ts";

const alone = await aloneOnMemory();

interface Started extends OngoingRequest {
  readonly notifications: readonly RpcNotification[];
}

function begin(requests: ModernRequests, request: JsonObject): Started {
  const notifications: RpcNotification[] = [];
  const ongoing = requests.handle(request as unknown as RpcRequest, {
    principal: localOperator(),
    headers: { "x-test": "1" },
    notify: (notification) => void notifications.push(notification),
  });
  return { ...ongoing, notifications };
}

async function send(request: JsonObject, plane: SamplePlane = createSamplePlane()): Promise<JsonObject> {
  return (await begin(createModernRequests(plane, alone), request).response) as unknown as JsonObject;
}

function call(name: string, meta?: JsonObject, args: JsonObject = {}): JsonObject {
  return modern(1, "tools/call", { name, arguments: args }, meta);
}

const SERVER = { "io.modelcontextprotocol/serverInfo": { name: "sample", version: "1.2.3" } };
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("modern requests: the envelope", () => {
  it.each([
    ["no _meta", { _meta: undefined }],
    ["no version", { _meta: { "io.modelcontextprotocol/clientCapabilities": {} } }],
    ["no capabilities", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }],
  ])("is refused with %s", async (_what, params) => {
    const ongoing = begin(createModernRequests(createSamplePlane(), alone), { ...modern(9, "tools/list"), params });
    expect(ongoing.malformed).toBe(true);
    expect(await ongoing.response).toMatchObject({ id: 9, error: { code: -32602 } });
  });

  it.each([
    ["logLevel", "loud"],
    ["clientInfo", "me"],
    ["clientCapabilities", []],
    ["protocolVersion", 7],
  ])("is refused with %s %j", async (key, value) => {
    const answered = await send(modern(1, "tools/list", {}, { [`io.modelcontextprotocol/${key}`]: value }));
    expect(answered).toMatchObject({ error: { code: -32602, message: expect.stringContaining(key) as string } });
  });

  it.each(["2025-11-25", "2099-01-01"])("of version %s is answered with those that are supported", async (version) => {
    const answered = await send(modern(1, "tools/list", {}, { "io.modelcontextprotocol/protocolVersion": version }));
    expect(answered).toMatchObject({
      error: { code: -32022, data: { supported: ["2026-07-28"], requested: version } },
    });
  });

  it("tells the plane who asks", async () => {
    const plane = createSamplePlane();
    const info = { name: "new", version: "3" };
    const meta = {
      "io.modelcontextprotocol/clientInfo": info,
      "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    };
    await send(call("echo", meta, { text: "hi" }), plane);
    expect(plane.exchanges[0]).toMatchObject({
      id: 1,
      headers: { "x-test": "1" },
      peer: { era: "modern", protocolVersion: "2026-07-28", info, capabilities: { sampling: {} } },
    });
  });
});

describe("modern requests: answers", () => {
  it("describe the server", async () => {
    expect(await send(modern("d", "server/discover"))).toEqual({
      jsonrpc: "2.0",
      id: "d",
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true }, logging: {} },
        instructions: "Be kind.",
        ttlMs: 0,
        cacheScope: "private",
        _meta: SERVER,
      },
    });
  });

  it("are completed with their type and who gave them", async () => {
    expect(await send(call("echo", {}, { text: "hi" }))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { ...text("hi"), resultType: "complete", _meta: SERVER },
    });
  });

  it("say how long a list may be kept", async () => {
    const { result } = await send(modern(1, "tools/list"));
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  });

  it("keep what the plane says itself", async () => {
    const _meta = { "io.modelcontextprotocol/serverInfo": { name: "other" }, mine: 1 };
    const own = { tools: [], resultType: "x", ttlMs: 5, cacheScope: "public", _meta };
    const plane = createSamplePlane();
    const shared = { ...plane.shared, handle: async () => own };
    const answered = await send(modern(1, "tools/list"), { ...plane, shared });
    expect(answered["result"]).toEqual(own);
  });

  it("do not say how long a question may be kept", async () => {
    const plane = createSamplePlane();
    const question = { resultType: "input_required", requestState: "s" };
    const shared = { ...plane.shared, handle: async () => question };
    const answered = await send(modern(1, "resources/read", { uri: "a:b" }), { ...plane, shared });
    expect(answered["result"]).toEqual({ ...question, _meta: SERVER });
  });

  it("are given without the server's name where the plane cannot tell it", async () => {
    const plane = createSamplePlane();
    const shared = { ...plane.shared, describe: () => Promise.reject(new Error("not connected")) };
    const answered = await send(call("echo", {}, { text: "hi" }), { ...plane, shared });
    expect(answered["result"]).toEqual({ ...text("hi"), resultType: "complete" });
  });

  it.each(["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"])(
    "know no method %s",
    async (method) => {
      const plane = createSamplePlane();
      expect(await send(modern(1, method), plane)).toMatchObject({ error: { code: -32601 } });
      expect(plane.exchanges.map((exchange) => exchange.method)).toEqual(method === "no/such" ? [method] : []);
    },
  );

  it("tell of a missing resource with this revision's code", async () => {
    expect(await send(modern(1, "resources/read", { uri: "a:b" }))).toMatchObject({
      error: { code: -32602, message: "Resource not found", data: { uri: "a:b" } },
    });
  });

  it("hide what an unexpected error says", async () => {
    const { error } = await send(call("fail"));
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

describe("modern requests: notifications", () => {
  it("carry progress under the request's token", async () => {
    const { response, notifications } = begin(
      createModernRequests(createSamplePlane(), alone),
      call("progress", { progressToken: "p" }),
    );
    await response;
    expect(notifications.map(({ params }) => params)).toEqual([
      { progressToken: "p", progress: 1, total: 2 },
      { progressToken: "p", progress: 2, total: 2 },
    ]);
  });

  it.each([
    [undefined, []],
    ["warning", ["error"]],
    ["debug", ["debug", "error"]],
  ])("of the log are sent for level %s as %j", async (level, sent) => {
    const meta = level === undefined ? {} : { "io.modelcontextprotocol/logLevel": level };
    const { response, notifications } = begin(createModernRequests(createSamplePlane(), alone), call("log", meta));
    await response;
    expect(notifications.map(({ params }) => params?.["level"])).toEqual(sent);
  });

  it("end with the answer", async () => {
    const plane = createSamplePlane();
    const { response, notifications } = begin(createModernRequests(plane, alone), call("echo"));
    await response;
    plane.exchanges[0]?.notify({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
    expect(notifications).toEqual([]);
  });
});

describe("modern requests: cancellation", () => {
  it("aborts the plane's work at once, and nothing is answered", async () => {
    const plane = createSamplePlane();
    const { response, cancel } = begin(createModernRequests(plane, alone), call("wait"));
    cancel();
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(await response).toBeUndefined();
  });

  it("is what closing does to every request", async () => {
    const plane = createSamplePlane();
    const requests = createModernRequests(plane, alone);
    const { response } = begin(requests, call("wait"));
    requests.close();
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(await response).toMatchObject({ error: { message: "The server is closing." } });
  });
});

describe("modern requests: subscriptions", () => {
  const CHANGED: RpcNotification = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const listen = (filter: unknown): JsonObject => modern("s", "subscriptions/listen", { notifications: filter });
  const tagged = { _meta: { "io.modelcontextprotocol/subscriptionId": "s" } };

  it("are acknowledged first, with what is honoured, and carry their id on everything", async () => {
    const plane = createSamplePlane();
    const { listen: open } = plane;
    plane.listen = (filter, push, options) => {
      push(CHANGED);
      return open(filter, push, options);
    };
    const { notifications } = begin(
      createModernRequests(plane, alone),
      listen({ toolsListChanged: true, promptsListChanged: true }),
    );
    await nextTurn();
    plane.pushAll({ ...CHANGED, params: { _meta: { mine: 1 } } });
    expect(notifications).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { toolsListChanged: true }, ...tagged },
      },
      { ...CHANGED, params: tagged },
      { ...CHANGED, params: { _meta: { mine: 1, ...tagged._meta } } },
    ]);
  });

  it("carry nothing that was not asked for", async () => {
    const plane = createSamplePlane();
    const { notifications } = begin(createModernRequests(plane, alone), listen({ promptsListChanged: true }));
    await nextTurn();
    plane.pushAll(CHANGED);
    expect(notifications.map(({ method }) => method)).toEqual(["notifications/subscriptions/acknowledged"]);
  });

  it("end when the client cancels them", async () => {
    const plane = createSamplePlane();
    const { response, cancel, notifications } = begin(
      createModernRequests(plane, alone),
      listen({ toolsListChanged: true }),
    );
    await nextTurn();
    expect(plane.filters).toHaveLength(1);
    cancel();
    expect(plane.filters).toEqual([]);
    expect(await response).toBeUndefined();
    expect(notifications).toHaveLength(1);
  });

  it("are answered when the server closes", async () => {
    const plane = createSamplePlane();
    const requests = createModernRequests(plane, alone);
    const { response } = begin(requests, listen({ toolsListChanged: true }));
    await nextTurn();
    requests.close();
    expect(await response).toMatchObject({ id: "s", result: { resultType: "complete", ...tagged } });
    expect(plane.filters).toEqual([]);
  });

  it("need a filter", async () => {
    expect(await send(listen(undefined))).toMatchObject({ error: { code: -32602 } });
    expect(await send(listen(["toolsListChanged"]))).toMatchObject({ error: { code: -32602 } });
  });
});
