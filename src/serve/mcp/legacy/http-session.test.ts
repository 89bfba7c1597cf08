import { afterEach, describe, expect, it } from "vitest";
import {
  aloneOnMemory,
  eventsOf,
  legacy,
  messagesOf,
  type SampleEndpoint,
  serveSample,
} from "../../../../test/mcp/sample-endpoint.ts";
import { createSamplePlane, type SamplePlane, text } from "../../../../test/mcp/sample-plane.ts";
import type { JsonObject, RpcNotification } from "../../../mcp/protocol.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import type { McpEndpointOptions } from "../http-endpoint.ts";
import { createMcpRoom } from "../room.ts";

let open: SampleEndpoint[] = [];
afterEach(async () => {
  await Promise.all(open.map((endpoint) => endpoint.close()));
  open = [];
});

const LONG = "long";

async function serve(options?: Partial<McpEndpointOptions>): Promise<SampleEndpoint & { readonly plane: SamplePlane }> {
  const plane = createSamplePlane({
    // Says something, then waits until it is let go.
    [LONG]: async (_args, exchange) => {
      exchange.notify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "begun" } });
      await new Promise<void>((resolve) => exchange.signal.addEventListener("goOn", () => resolve()));
      exchange.notify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "going" } });
      return text("finished");
    },
  });
  const endpoint = await serveSample(plane, options);
  open.push(endpoint);
  return { ...endpoint, plane };
}

const call = (id: number, name: string): JsonObject => legacy(id, "tools/call", { name, arguments: {} });
const changed = (kind: string): RpcNotification => ({ jsonrpc: "2.0", method: `notifications/${kind}/list_changed` });
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The events of a response until it has given so many, and their ids. */
async function take(
  response: Response,
  count: number,
): Promise<readonly { readonly id: string; readonly data: string }[]> {
  const events = eventsOf(response);
  const taken: { readonly id: string; readonly data: string }[] = [];
  while (taken.length < count) {
    const { value } = await events.next();
    if (value === undefined) break;
    taken.push({ id: value.id ?? "", data: value.data });
  }
  return taken;
}

/** Starts a long call and breaks its connection after the first events; gives the ids that the client has seen. */
async function broken(endpoint: SampleEndpoint, session: Record<string, string>): Promise<readonly string[]> {
  const controller = new AbortController();
  const response = await endpoint.post(call(1, LONG), session, controller.signal);
  const seen = await take(response, 2);
  const closed = endpoint.closedResponses();
  controller.abort();
  while (endpoint.closedResponses() === closed) await turn();
  return seen.map(({ id }) => id);
}

describe("a request whose stream broke", () => {
  it("goes on running, and is resumed where it broke", async () => {
    const endpoint = await serve();
    const session = await endpoint.initialize();
    const [, last = ""] = await broken(endpoint, session);
    expect(endpoint.plane.exchanges[0]?.signal.aborted).toBe(false);
    const resumed = await endpoint.get({ ...session, "last-event-id": last });
    endpoint.plane.exchanges[0]?.signal.dispatchEvent(new Event("goOn"));
    expect(await messagesOf(resumed)).toMatchObject([
      { params: { data: "going" } },
      { id: 1, result: text("finished") },
    ]);
  });

  it("has its answer replayed where it finished meanwhile, from where the client says it was", async () => {
    const endpoint = await serve();
    const session = await endpoint.initialize();
    const [primed = ""] = await broken(endpoint, session);
    endpoint.plane.exchanges[0]?.signal.dispatchEvent(new Event("goOn"));
    await turn();
    // Something on another stream is not replayed.
    await messagesOf(
      await endpoint.post(legacy(2, "tools/call", { name: "progress", arguments: {}, _meta: {} }), session),
    );
    const resumed = await endpoint.get({ ...session, "last-event-id": primed });
    expect(await messagesOf(resumed)).toMatchObject([
      { params: { data: "begun" } },
      { params: { data: "going" } },
      { id: 1, result: text("finished") },
    ]);
  });

  it("can break more than once", async () => {
    const endpoint = await serve();
    const session = await endpoint.initialize();
    const [, last = ""] = await broken(endpoint, session);
    const controller = new AbortController();
    await endpoint.get({ ...session, "last-event-id": last }, "GET", controller.signal);
    const closed = endpoint.closedResponses();
    controller.abort();
    while (endpoint.closedResponses() === closed) await turn();
    endpoint.plane.exchanges[0]?.signal.dispatchEvent(new Event("goOn"));
    const resumed = await endpoint.get({ ...session, "last-event-id": last });
    expect(await messagesOf(resumed)).toMatchObject([{ params: { data: "going" } }, { id: 1 }]);
  });

  it("leaves the old connection where the client came back before the server noticed", async () => {
    const endpoint = await serve();
    const session = await endpoint.initialize();
    const old = eventsOf(await endpoint.post(call(1, LONG), session));
    await old.next();
    const { value: begun } = await old.next();
    const resumed = await endpoint.get({ ...session, "last-event-id": begun?.id ?? "" });
    expect((await old.next()).done).toBe(true);
    endpoint.plane.exchanges[0]?.signal.dispatchEvent(new Event("goOn"));
    expect(await messagesOf(resumed)).toMatchObject([{ params: { data: "going" } }, { id: 1 }]);
  });

  it("goes on running also where nothing had been sent, though nobody will hear of it", async () => {
    const endpoint = await serve();
    const session = await endpoint.initialize();
    const controller = new AbortController();
    const gone = endpoint.post(call(1, "wait"), session, controller.signal).catch(() => "gone");
    while (endpoint.plane.exchanges.length === 0) await turn();
    controller.abort();
    expect(await gone).toBe("gone");
    expect((await endpoint.post(call(2, "echo"), session)).status).toBe(200);
    expect(endpoint.plane.exchanges[0]?.signal.aborted).toBe(false);
    endpoint.plane.release();
    expect((await endpoint.post(call(1, "echo"), session)).status).toBe(200);
  });

  it("is not found by an event that was never sent", async () => {
    const alone = await aloneOnMemory();
    const endpoint = await serve(alone);
    const session = await endpoint.initialize();
    for (const id of ["nonsense", `${alone.replica.id}.7-0`, `${alone.replica.id}.0-99`])
      expect((await endpoint.get({ ...session, "last-event-id": id })).status).toBe(400);
  });
});

describe("a session's own stream", () => {
  it("carries what belongs to no request, also what was said before it was opened", async () => {
    const { get, initialize, plane } = await serve();
    const session = await initialize();
    plane.pushAll(changed("tools"));
    const response = await get(session);
    expect(response.headers.get("mcp-session-id")).toBe(session["mcp-session-id"]);
    const events = eventsOf(response);
    expect((await events.next()).value).toMatchObject({ data: "" });
    expect(JSON.parse((await events.next()).value?.data ?? "")).toEqual(changed("tools"));
    plane.pushAll(changed("prompts"));
    expect(JSON.parse((await events.next()).value?.data ?? "")).toEqual(changed("prompts"));
  });

  it("is one: another is refused while it is open", async () => {
    const { get, initialize } = await serve();
    const session = await initialize();
    const controller = new AbortController();
    await get(session, "GET", controller.signal);
    expect((await get(session)).status).toBe(409);
    controller.abort();
    let status = 409;
    while (status === 409) ({ status } = await get(session, "GET", AbortSignal.timeout(5000)));
    expect(status).toBe(200);
  });

  it("is taken over by a client that comes back for what it missed", async () => {
    const { get, initialize, plane } = await serve();
    const session = await initialize();
    const first = eventsOf(await get(session));
    const { value: primed } = await first.next();
    plane.pushAll(changed("tools"));
    await first.next();
    const second = eventsOf(await get({ ...session, "last-event-id": primed?.id ?? "" }));
    expect(JSON.parse((await second.next()).value?.data ?? "")).toEqual(changed("tools"));
    expect((await first.next()).done).toBe(true);
    plane.pushAll(changed("prompts"));
    expect(JSON.parse((await second.next()).value?.data ?? "")).toEqual(changed("prompts"));
  });

  it("carries questions that belong to no request", async () => {
    const { get, post, initialize, plane } = await serve();
    const session = await initialize({ roots: {} });
    const events = eventsOf(await get(session));
    await events.next();
    const roots = plane.sessions[0]?.ask("roots/list", undefined, { signal: new AbortController().signal });
    const { id } = JSON.parse((await events.next()).value?.data ?? "") as JsonObject;
    await post({ jsonrpc: "2.0", id, result: { roots: [] } }, session);
    expect(await roots).toEqual({ roots: [] });
  });

  it("needs a client that accepts events", async () => {
    const { get, initialize } = await serve();
    expect((await get({ ...(await initialize()), accept: "application/json" })).status).toBe(406);
  });
});

describe("a session", () => {
  it("ends by DELETE: what runs is aborted, and it is not found again", async () => {
    const { get, post, initialize, plane } = await serve();
    const session = await initialize();
    const running = post(call(1, "wait"), session);
    const stream = await get(session);
    while (plane.exchanges.length === 0) await turn();
    expect((await get(session, "DELETE")).status).toBe(200);
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(plane.sessions).toEqual([]);
    expect(await (await running).text()).toBe("");
    await stream.text();
    expect((await post(call(2, "echo"), session)).status).toBe(404);
  });

  it("ends after an hour without use, but not while a stream is open", async () => {
    const clock = createManualClock();
    const { get, post, initialize, plane } = await serve({ clock });
    const session = await initialize();
    await clock.advance(3_000_000);
    expect((await post(call(1, "echo"), session)).status).toBe(200);
    await clock.advance(3_000_000);
    expect(plane.sessions).toHaveLength(1);
    const controller = new AbortController();
    await get(session, "GET", controller.signal);
    await clock.advance(10_000_000);
    expect(plane.sessions).toHaveLength(1);
    controller.abort();
    while (plane.sessions.length > 0) await clock.advance(3_600_000);
    expect((await post(call(2, "echo"), session)).status).toBe(404);
  });

  it("is forgotten where its initialize fails, or nobody waits for the answer", async () => {
    const clock = createManualClock();
    const endpoint = await serve({ clock });
    const { openSession } = endpoint.plane;
    const params = { protocolVersion: "2025-11-25" };
    endpoint.plane.openSession = () => Promise.reject(new Error("down"));
    await endpoint.post(legacy(1, "initialize", params));
    expect(clock.pending).toBe(0);
    const controller = new AbortController();
    const { promise: asked, resolve: tellAsked } = Promise.withResolvers<void>();
    const { promise: gone, resolve: go } = Promise.withResolvers<void>();
    endpoint.plane.openSession = async (...args) => {
      tellAsked();
      await gone;
      return openSession(...args);
    };
    const given = endpoint.post(legacy(1, "initialize", params), {}, controller.signal).catch(() => "gone");
    await asked;
    controller.abort();
    expect(await given).toBe("gone");
    while (clock.pending > 0) await turn();
    go();
    await turn();
    expect(endpoint.plane.sessions).toEqual([]);
  });

  it("makes room for a new one where there are too many and it is not in use", async () => {
    const { post, initialize, plane } = await serve({ room: createMcpRoom({ sessions: 2 }) });
    const first = await initialize();
    const second = await initialize();
    await post(call(1, "echo"), first);
    const third = await initialize();
    expect(
      await Promise.all([first, second, third].map(async (one) => (await post(call(2, "echo"), one)).status)),
    ).toEqual([200, 404, 200]);
    const busy = [first, third].map((one) => post(call(3, "wait"), one));
    while (plane.exchanges.filter(({ id }) => id === 3).length < 2) await turn();
    expect((await post(legacy(1, "initialize", { protocolVersion: "2025-11-25" }))).status).toBe(503);
    plane.release();
    await Promise.all(busy);
  });

  it("makes room at the cost of its own caller first", async () => {
    const { post, initialize } = await serve({ room: createMcpRoom({ sessions: 3 }) });
    const others = await initialize({}, { "x-caller": "bob" });
    const first = await initialize();
    const second = await initialize();
    const third = await initialize();
    const statuses = [others, first, second, third].map(async (one) => (await post(call(1, "echo"), one)).status);
    expect(await Promise.all(statuses)).toEqual([200, 404, 200, 200]);
  });

  it("gives way to a caller with fewer, even in use, and never to one with more", async () => {
    const { get, post, initialize } = await serve({ room: createMcpRoom({ sessions: 3 }) });
    const bob = await initialize({}, { "x-caller": "bob" });
    const own = [await initialize(), await initialize()];
    const streams = await Promise.all([bob, ...own].map((session) => get(session)));
    expect((await post(legacy(1, "initialize", { protocolVersion: "2025-11-25" }))).status).toBe(503);
    const eve = await initialize({}, { "x-caller": "eve" });
    const statuses = [bob, ...own, eve].map(async (one) => (await post(call(1, "echo"), one)).status);
    expect(await Promise.all(statuses)).toEqual([200, 404, 200, 200]);
    await streams[1]?.text();
  });

  it("shares its room with the sessions at other addresses", async () => {
    const room = createMcpRoom({ sessions: 2 });
    const [one, other] = [await serve({ room }), await serve({ room })];
    const first = await one.initialize();
    await other.initialize();
    await other.initialize();
    expect((await one.post(call(1, "echo"), first)).status).toBe(404);
  });

  it("counts what its client says about itself", async () => {
    const room = createMcpRoom();
    const { initialize, get } = await serve({ room });
    const session = await initialize({ experimental: { text: "x".repeat(50_000) } });
    expect(room.sessions.all.bytes).toBeGreaterThan(50_000);
    await get(session, "DELETE");
    expect(room.sessions.all).toEqual({ count: 0, bytes: 0 });
    expect(room.logs.all).toEqual({ count: 0, bytes: 0 });
  });

  it("serves 50 callers at once, each with questions of its own", async () => {
    const { post, initialize } = await serve();
    const sessions = await Promise.all(Array.from({ length: 5 }, () => initialize({ elicitation: {} })));
    const greetings = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const session = sessions[index % 5] ?? {};
        const events = eventsOf(await post(call(index, "greet"), session));
        await events.next();
        const { id } = JSON.parse((await events.next()).value?.data ?? "") as JsonObject;
        const result = { action: "accept", content: { name: `caller ${index}` } };
        await post({ jsonrpc: "2.0", id, result }, session);
        return JSON.parse((await events.next()).value?.data ?? "") as JsonObject;
      }),
    );
    expect(greetings.map(({ id, result }) => [id, result])).toEqual(
      Array.from({ length: 50 }, (_, index) => [index, text(`Hello caller ${index}`)]),
    );
  });
});
