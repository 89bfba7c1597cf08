import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import {
  allEvents,
  eventsOf,
  legacy,
  messagesOf,
  modern,
  type SampleEndpoint,
  serveSample,
} from "../../../test/mcp/sample-endpoint.ts";
import { createSamplePlane, type SamplePlane, text } from "../../../test/mcp/sample-plane.ts";
import { type JsonObject, RpcError } from "../../mcp/protocol.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import type { McpEndpointOptions } from "./http-endpoint.ts";

let open: SampleEndpoint[] = [];
afterEach(async () => {
  await Promise.all(open.map((endpoint) => endpoint.close()));
  open = [];
});

async function serve(options?: Partial<McpEndpointOptions>): Promise<SampleEndpoint & { readonly plane: SamplePlane }> {
  const plane = createSamplePlane({
    broken: async () => {
      throw new RpcError({ code: -32601, message: "The tool's own method is missing" });
    },
  });
  const endpoint = await serveSample(plane, options);
  open.push(endpoint);
  return { ...endpoint, plane };
}

const call = (id: number, name: string, args: JsonObject = {}): JsonObject =>
  legacy(id, "tools/call", { name, arguments: args, _meta: { progressToken: "t" } });
const callModern = (id: number, name: string, meta?: JsonObject): JsonObject =>
  modern(id, "tools/call", { name, arguments: {} }, meta);

/** Resolves once a request of that number has reached the plane. */
async function reached(plane: SamplePlane, count: number): Promise<void> {
  while (plane.exchanges.length < count) await new Promise((resolve) => void setImmediate(resolve));
}

describe("http endpoint: what is refused before it is looked into", () => {
  it.each([
    ["a batch", [legacy(1, "ping")], 400, -32600],
    ["no JSON", "{", 400, -32700],
    ["no message", { jsonrpc: "2.0", id: 1 }, 400, -32600],
    ["an id that is none", { jsonrpc: "2.0", id: null, method: "ping" }, 400, -32600],
  ])("%s", async (_what, message, status, code) => {
    const { post } = await serve();
    const response = await post(message);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it.each(["application/json", "text/html"])("a POST that accepts only %s", async (accept) => {
    const { post } = await serve();
    expect((await post(modern(1, "tools/list"), { accept })).status).toBe(406);
  });

  it("a method that the endpoint does not have", async () => {
    const { get } = await serve();
    const response = await get({}, "PUT");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, POST, DELETE"]);
  });

  it.each(["GET", "DELETE"])("%s without a session", async (method) => {
    const { get } = await serve();
    const response = await get({}, method);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("everything, once it is closed; what ran is told", async () => {
    const { endpoint, post, plane } = await serve();
    const running = post(callModern(1, "wait"));
    await reached(plane, 1);
    await endpoint.close();
    expect(await (await running).json()).toMatchObject({ id: 1, error: { message: "The server is closing." } });
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect((await post(modern(2, "tools/list"))).status).toBe(503);
    expect((await post(legacy(2, "initialize", { protocolVersion: "2025-11-25" }))).status).toBe(503);
  });
});

describe("http endpoint: modern requests", () => {
  it("are answered as JSON where nothing comes before the answer", async () => {
    const { post } = await serve();
    const response = await post(modern(1, "server/discover"));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(response.headers.get("mcp-session-id")).toBeNull();
    expect(await response.json()).toMatchObject({ id: 1, result: { supportedVersions: ["2026-07-28"] } });
  });

  it("are answered as a stream, without ids, where something does", async () => {
    const { post } = await serve();
    const response = await post(callModern(1, "progress", { progressToken: "p" }));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const events = await allEvents(response);
    expect(events.map(({ id }) => id)).toEqual([undefined, undefined, undefined]);
    expect(events.map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "p", progress: 1 } },
      { method: "notifications/progress", params: { progressToken: "p", progress: 2 } },
      { id: 1, result: text("done") },
    ]);
  });

  it("are answered as a stream where the client does not take JSON", async () => {
    const { post } = await serve();
    const response = await post(modern(1, "tools/list"), { accept: "text/event-stream" });
    expect(await messagesOf(response)).toMatchObject([{ id: 1, result: { resultType: "complete" } }]);
  });

  it.each([
    ["a method that is not there", modern(1, "no/such"), 404, -32601],
    ["a method of earlier revisions", modern(1, "ping"), 404, -32601],
    ["an initialize in an envelope", modern(1, "initialize"), 404, -32601],
    [
      "a version that is not spoken",
      modern(1, "x", {}, { "io.modelcontextprotocol/protocolVersion": "v9" }),
      400,
      -32022,
    ],
    ["no capabilities", modern(1, "x", {}, { "io.modelcontextprotocol/clientCapabilities": undefined }), 400, -32602],
    ["an ability that the client lacks", callModern(1, "greet"), 400, -32021],
    ["no such tool", callModern(1, "nothing"), 200, -32602],
    ["a tool that lacks a method itself", callModern(1, "broken"), 200, -32601],
  ])("fail for %s with the status that the protocol has for it", async (_what, message, status, code) => {
    const { post } = await serve();
    const response = await post(message);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ id: 1, error: { code } });
  });

  it.each([
    ["no version", { "mcp-protocol-version": undefined }],
    ["another version", { "mcp-protocol-version": "2025-11-25" }],
    ["no method", { "mcp-method": undefined }],
    ["another method", { "mcp-method": "tools/list" }],
    ["no name", { "mcp-name": undefined }],
    ["another name", { "mcp-name": "fail" }],
  ])("are refused where the headers say %s", async (_what, headers) => {
    const { post, plane } = await serve();
    const response = await post(callModern(1, "echo"), headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32020 } });
    expect(plane.exchanges).toEqual([]);
  });

  it("without an envelope are malformed, not legacy, where the header names this revision", async () => {
    const { post } = await serve();
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const response = await post(legacy(1, "tools/list"), headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32602 } });
  });

  it("take no notice of a session, nor of notifications, and refuse answers", async () => {
    const { post } = await serve();
    expect((await post(modern(1, "tools/list"), { "mcp-session-id": "x" })).status).toBe(200);
    const headers = { "mcp-protocol-version": "2026-07-28" };
    expect((await post({ jsonrpc: "2.0", method: "notifications/x" }, headers)).status).toBe(202);
    expect((await post({ jsonrpc: "2.0", id: 1, result: {} }, headers)).status).toBe(400);
  });

  it("are cancelled when the client goes away", async () => {
    const { post, plane } = await serve();
    const controller = new AbortController();
    const gone = post(callModern(1, "wait"), {}, controller.signal).catch(() => "gone");
    await reached(plane, 1);
    const signal = plane.exchanges[0]?.signal ?? AbortSignal.abort();
    const aborted = once(signal, "abort");
    controller.abort();
    await aborted;
    expect(await gone).toBe("gone");
  });

  it("open a subscription that lasts until the client goes away", async () => {
    const clock = createManualClock();
    const { post, plane } = await serve({ clock });
    const controller = new AbortController();
    const filter = { notifications: { toolsListChanged: true } };
    const response = await post(modern(5, "subscriptions/listen", filter), {}, controller.signal);
    const events = eventsOf(response);
    expect(JSON.parse((await events.next()).value?.data ?? "")).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: { "io.modelcontextprotocol/subscriptionId": 5 } },
    });
    plane.pushAll({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    expect(JSON.parse((await events.next()).value?.data ?? "")).toMatchObject({
      method: "notifications/tools/list_changed",
    });
    controller.abort();
    while (plane.filters.length > 0 || clock.pending > 0) await new Promise((resolve) => void setImmediate(resolve));
  });

  it("go on with a suspended call on another connection", async () => {
    const { post, plane } = await serve();
    const able = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const first = (await (await post(callModern(1, "greet", able))).json()) as { readonly result: JsonObject };
    const { requestState } = first.result;
    const inputResponses = { "input-1": { action: "accept", content: { name: "Ada" } } };
    const repeat = modern(2, "tools/call", { name: "greet", arguments: {}, requestState, inputResponses }, able);
    expect(await (await post(repeat, { "x-caller": "eve" })).json()).toMatchObject({ error: { code: -32602 } });
    expect(await (await post(repeat)).json()).toMatchObject({ id: 2, result: text("Hello Ada") });
    expect(plane.exchanges[0]?.signal.aborted).toBe(false);
  });

  it("become a stream with a sign of life when the answer takes long", async () => {
    const clock = createManualClock();
    const { post, plane } = await serve({ clock, quietMs: 15_000 });
    const pending = post(callModern(1, "wait"));
    await reached(plane, 1);
    await clock.advance(15_000);
    const response = await pending;
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await clock.advance(15_000);
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toBe(": keep-alive\n\n");
    reader?.releaseLock();
    plane.release();
    expect(await messagesOf(response)).toMatchObject([{ id: 1, result: text("waited") }]);
  });
});

describe("http endpoint: legacy requests", () => {
  it("need a session, and get one by initialize", async () => {
    const { post, initialize } = await serve();
    const without = await post(call(1, "echo"));
    expect(without.status).toBe(400);
    expect(await without.json()).toMatchObject({ id: 1, error: { code: -32600 } });
    const session = await initialize();
    expect(session["mcp-session-id"]).toMatch(/^[\x21-\x7e]{30,}$/);
    const response = await post(call(1, "echo", { text: "hi" }), session);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(await response.json()).toEqual({ jsonrpc: "2.0", id: 1, result: text("hi") });
  });

  it("are not answered in a session that does not exist, or is another caller's", async () => {
    const { post, get, initialize } = await serve();
    expect((await post(call(1, "echo"), { "mcp-session-id": "nonsense" })).status).toBe(404);
    const session = await initialize();
    const stolen = { ...session, "x-caller": "eve" };
    expect((await post(call(1, "echo"), stolen)).status).toBe(404);
    expect((await get(stolen)).status).toBe(404);
    expect((await get(stolen, "DELETE")).status).toBe(404);
    expect((await post(call(1, "echo"), session)).status).toBe(200);
  });

  it("are made with what the caller may do now, not when the session was opened", async () => {
    const { post, initialize, plane } = await serve();
    const session = await initialize();
    await post(call(1, "echo"), { ...session, "x-scope": "read" });
    expect(plane.exchanges[0]?.peer.principal.scopes).toEqual(["read"]);
    expect(plane.exchanges[0]?.headers).toMatchObject({ "x-scope": "read" });
  });

  it.each(["1999-01-01", "nonsense"])("are refused where the header names the version %s", async (version) => {
    const { post, get, initialize } = await serve();
    const headers = { ...(await initialize()), "mcp-protocol-version": version };
    expect((await post(call(1, "echo"), headers)).status).toBe(400);
    expect((await get(headers)).status).toBe(400);
  });

  it("leave no session behind where initialize fails", async () => {
    const { post, plane } = await serve();
    plane.openSession = () => Promise.reject(new Error("down"));
    const response = await post(legacy(1, "initialize", { protocolVersion: "2025-11-25" }));
    expect(response.headers.get("mcp-session-id")).toBeNull();
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  it("are answered as a stream with ids, begun by an event to come back with, where something precedes the answer", async () => {
    const { post, initialize } = await serve();
    const response = await post(call(1, "progress"), await initialize());
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = await allEvents(response);
    expect(events[0]).toMatchObject({ data: "", retry: "1000", id: expect.any(String) as string });
    expect(new Set(events.map(({ id }) => id)).size).toBe(4);
    expect(events.slice(1).map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
      { params: { progress: 1 } },
      { params: { progress: 2 } },
      { id: 1, result: text("done") },
    ]);
  });

  it("get no event without data where the client is older than that", async () => {
    const { post } = await serve();
    const response = await post(legacy(0, "initialize", { protocolVersion: "2025-06-18" }));
    const session = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
    const events = await allEvents(await post(call(1, "progress"), session));
    expect(events.map(({ data }) => data === "")).toEqual([false, false, false]);
  });

  it("are refused while one with the same id runs", async () => {
    const { post, initialize, plane } = await serve();
    const session = await initialize();
    const first = post(call(1, "wait"), session);
    await reached(plane, 1);
    expect((await post(call(1, "echo"), session)).status).toBe(400);
    plane.release();
    expect(await (await first).json()).toMatchObject({ result: text("waited") });
  });

  it("can be cancelled; the reply then ends empty", async () => {
    const { post, initialize, plane } = await serve();
    const session = await initialize();
    const cancelled = post(call(1, "wait"), session);
    await reached(plane, 1);
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    expect((await post(notice, session)).status).toBe(202);
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(await (await cancelled).text()).toBe("");
  });

  it("can ask the client on their own stream", async () => {
    const { post, initialize } = await serve();
    const session = await initialize({ elicitation: {} });
    const response = await post(call(1, "greet"), session);
    const events = eventsOf(response);
    await events.next();
    const question = JSON.parse((await events.next()).value?.data ?? "") as JsonObject;
    expect(question).toMatchObject({ method: "elicitation/create" });
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await post({ jsonrpc: "2.0", id: question["id"], result }, session)).status).toBe(202);
    expect(JSON.parse((await events.next()).value?.data ?? "")).toMatchObject({ id: 1, result: text("Hello Ada") });
  });
});
