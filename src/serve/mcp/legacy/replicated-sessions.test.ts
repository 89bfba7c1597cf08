import { afterEach, describe, expect, it } from "vitest";
import { eventsOf, legacy, messagesOf, type SeenEvent } from "../../../../test/mcp/sample-endpoint.ts";
import { type SampleTool, text } from "../../../../test/mcp/sample-plane.ts";
import { type Gateway, type TwoGateways, twoGateways } from "../../../../test/mcp/two-gateways.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";

const open: TwoGateways[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateways) => gateways.close()));
});

async function start(...given: Parameters<typeof twoGateways>): Promise<TwoGateways> {
  const gateways = await twoGateways(...given);
  open.push(gateways);
  return gateways;
}

type Session = Record<string, string>;

const call = (id: number, name: string, args: JsonObject = {}): JsonObject =>
  legacy(id, "tools/call", { name, arguments: args });
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function echo(gateway: Gateway, session: Session): Promise<number> {
  const response = await gateway.post(call(9, "echo", { text: "hello" }), session);
  await response.json();
  return response.status;
}

async function nextMessage(events: AsyncGenerator<SeenEvent, void, undefined>): Promise<JsonObject> {
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error("The stream has ended.");
    if (value.data !== "") return JSON.parse(value.data) as JsonObject;
  }
}

describe("a session that was begun at one process", () => {
  it("goes on at another, with what the client said of itself", async () => {
    const { a, b } = await start();
    const session = await a.initialize({ roots: {} });
    const response = await b.post(call(1, "echo", { text: "hello" }), session);
    expect(await response.json()).toMatchObject({ id: 1, result: text("hello") });
    expect(response.headers.get("mcp-session-id")).toBe(session["mcp-session-id"]);
    expect(b.plane.exchanges[0]?.peer).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      info: { name: "test", version: "1" },
      capabilities: { roots: {} },
      principal: { id: "local" },
    });
  });

  it("goes on at another after its own process has ended", async () => {
    const { a, b } = await start();
    const session = await a.initialize();
    await a.endpoint.close();
    await a.replica.close();
    expect(await echo(b, session)).toBe(200);
  });

  it("is unknown to another caller", async () => {
    const { a, b } = await start();
    const session = await a.initialize({}, { "x-caller": "ada" });
    expect(await echo(b, { ...session, "x-caller": "eve" })).toBe(404);
    expect(await b.get({ ...session, "x-caller": "eve" }, "DELETE")).toMatchObject({ status: 404 });
    expect(await echo(b, { ...session, "mcp-session-id": "other" })).toBe(404);
    expect(await echo(b, session)).toBe(200);
  });

  it("keeps its log level and subscriptions, whichever process they were set at", async () => {
    const { a, b } = await start();
    const session = await a.initialize();
    await a.post(legacy(1, "logging/setLevel", { level: "error" }), session);
    await a.post(legacy(2, "resources/subscribe", { uri: "file:///one" }), session);
    await a.post(legacy(3, "resources/subscribe", { uri: "file:///two" }), session);
    expect(await echo(b, session)).toBe(200);
    expect(b.plane.settings).toEqual([
      ["logging/setLevel", { level: "error" }],
      ["resources/subscribe", { uri: "file:///one" }],
      ["resources/subscribe", { uri: "file:///two" }],
    ]);
    await b.post(legacy(4, "resources/unsubscribe", { uri: "file:///one" }), session);
    while (a.plane.settings.length < 4) await turn();
    expect(a.plane.settings.at(-1)).toEqual(["resources/unsubscribe", { uri: "file:///one" }]);
  });

  it("ends everywhere when one process is told to end it", async () => {
    const { a, b } = await start();
    const session = await a.initialize();
    await echo(b, session);
    const stream = eventsOf(await a.get(session));
    expect((await b.get(session, "DELETE")).status).toBe(200);
    while ((await stream.next()).done !== true);
    expect([await echo(a, session), await echo(b, session)]).toEqual([404, 404]);
    expect([a.plane.sessions, b.plane.sessions]).toEqual([[], []]);
  });

  it("is ended by a process that never used it, without being opened there first", async () => {
    const { a, b } = await start();
    const session = await a.initialize();
    expect((await b.get(session, "DELETE")).status).toBe(200);
    while (a.plane.sessions.length > 0) await turn();
    expect(await echo(a, session)).toBe(404);
    expect(b.plane.exchanges).toEqual([]);
  });

  it("has a question answered that another process asked", async () => {
    const { a, b } = await start();
    const session = await a.initialize({ elicitation: {} });
    const events = eventsOf(await a.post(call(1, "greet"), session));
    const asked = await nextMessage(events);
    expect(asked).toMatchObject({ method: "elicitation/create" });
    const result = { action: "accept", content: { name: "Ada" } };
    const answered = await b.post({ jsonrpc: "2.0", id: asked["id"], result }, session);
    expect(answered.status).toBe(202);
    expect(await nextMessage(events)).toMatchObject({ id: 1, result: text("Hello Ada") });
  });

  it("has a request cancelled that runs at another process", async () => {
    const { a, b } = await start();
    const session = await a.initialize();
    const running = a.post(call(1, "wait"), session);
    while (a.plane.exchanges.length === 0) await turn();
    const params = { requestId: 1, reason: "changed my mind" };
    expect((await b.post({ jsonrpc: "2.0", method: "notifications/cancelled", params }, session)).status).toBe(202);
    expect(await messagesOf(await running)).toEqual([]);
    expect(a.plane.exchanges[0]?.signal.reason).toMatchObject({
      code: "CANCELLED",
      message: "The client cancelled the request: changed my mind",
    });
  });

  it("tells every process that the client's roots changed", async () => {
    const { a, b } = await start();
    const session = await a.initialize({ roots: {} });
    await echo(b, session);
    const changed = { jsonrpc: "2.0", method: "notifications/roots/list_changed" };
    await b.post(changed, session);
    while (a.plane.notifications.length === 0) await turn();
    expect([a.plane.notifications, b.plane.notifications]).toEqual([[changed], [changed]]);
  });

  it("expires everywhere when no process has used it for an hour, and not before", async () => {
    const clock = createManualClock();
    const { a, b } = await start({}, { clock });
    const session = await a.initialize();
    await clock.advance(3_000_000);
    expect(await echo(b, session)).toBe(200);
    await clock.advance(3_000_000);
    expect(await echo(a, session)).toBe(200);
    await clock.advance(3_700_000);
    expect([await echo(a, session), await echo(b, session)]).toEqual([404, 404]);
  });

  it("lives as long as a stream is open at any process", async () => {
    const clock = createManualClock();
    const { a, b } = await start({}, { clock });
    const session = await a.initialize();
    await a.get(session);
    await clock.advance(9_000_000);
    expect(await echo(b, session)).toBe(200);
  });

  it("is refused if the client says more of itself than is kept", async () => {
    const { a, state } = await start();
    const clientInfo = { name: "x".repeat(70_000), version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const response = await a.post(legacy(1, "initialize", params));
    expect(await response.json()).toMatchObject({ error: { code: -32602 } });
    expect(response.headers.get("mcp-session-id")).toBeNull();
    expect(await state.documents.list("mcp/session/")).toEqual([]);
  });

  it("has as many subscriptions as are kept, and no more", async () => {
    const { a } = await start();
    const session = await a.initialize();
    const uri = (length: number): string => `file:///${"x".repeat(length)}`;
    const subscribe = async (given: string): Promise<unknown> =>
      (await a.post(legacy(1, "resources/subscribe", { uri: given }), session)).json();
    expect(await subscribe(uri(200_000))).toMatchObject({ result: {} });
    expect(await subscribe(uri(100_000))).toMatchObject({ error: { code: -32600 } });
    await a.post(legacy(2, "resources/unsubscribe", { uri: uri(200_000) }), session);
    expect(await subscribe(uri(100_000))).toMatchObject({ result: {} });
  });

  it("goes on where it is while the shared state is away, and nowhere else", async () => {
    const { a, b, state } = await start();
    const session = await a.initialize();
    state.broken = true;
    expect(await echo(a, session)).toBe(200);
    const response = await b.post(call(1, "echo"), session);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.text()).not.toContain("/home/someone");
    expect(await echo(b, await b.initialize())).toBe(200);
    state.broken = false;
    expect(await echo(b, session)).toBe(200);
  });

  it("goes on if the shared state fails while a process reads what was set at another", async () => {
    const { a, b, state } = await start();
    state.changes.subscribe("mcp/sessions", () => void (state.broken = true));
    const session = await a.initialize();
    expect(await echo(b, session)).toBe(200);
    // What a process lets go by, such as a promise that nobody catches, fails the whole run.
    await b.post(legacy(1, "logging/setLevel", { level: "error" }), session);
    while (!state.broken) await turn();
    expect([await echo(a, session), await echo(b, session)]).toEqual([200, 200]);
  });

  it("is not written down by its id, which lets its holder in", async () => {
    const { a, state } = await start();
    const session = await a.initialize();
    const kept = JSON.stringify(await state.documents.list("mcp/session/"));
    expect(kept).toContain("2025-11-25");
    expect(kept).not.toContain(session["mcp-session-id"]);
  });
});

describe("a stream that broke, resumed at another process", () => {
  const LONG: SampleTool = async (_args, { notify, signal }) => {
    notify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "begun" } });
    await new Promise((resolve) => signal.addEventListener("goOn", resolve));
    notify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "going" } });
    return text("finished");
  };

  async function broken(gateway: Gateway, session: Session): Promise<string> {
    const controller = new AbortController();
    const events = eventsOf(await gateway.post(call(1, "long"), session, controller.signal));
    await events.next();
    const { value } = await events.next();
    const closed = gateway.closedResponses();
    controller.abort();
    while (gateway.closedResponses() === closed) await turn();
    return value?.id ?? "";
  }

  it("goes on where it broke", async () => {
    const { a, b } = await start({ long: LONG });
    const session = await a.initialize();
    const resumed = await b.get({ ...session, "last-event-id": await broken(a, session) });
    a.plane.exchanges[0]?.signal.dispatchEvent(new Event("goOn"));
    expect(await messagesOf(resumed)).toMatchObject([
      { params: { data: "going" } },
      { id: 1, result: text("finished") },
    ]);
  });

  it("says that the outcome is unknown if the process that ran the request has ended", async () => {
    const { a, b } = await start({ long: LONG });
    const session = await a.initialize();
    const last = await broken(a, session);
    await a.endpoint.close();
    await a.replica.close();
    const resumed = await b.get({ ...session, "last-event-id": last });
    expect(await messagesOf(resumed)).toMatchObject([{ id: 1, error: { data: { code: "OUTCOME_UNKNOWN" } } }]);
  });

  it("is refused if the process that kept it has ended and the event names no request", async () => {
    const { a, b } = await start({ long: LONG });
    const session = await a.initialize();
    const last = await broken(a, session);
    await a.endpoint.close();
    await a.replica.close();
    const [, position] = /^(.*-\d+)\./.exec(last) ?? [];
    for (const id of [position, `${position}.AAAA`, `${position}.${"A".repeat(129)}`])
      expect((await b.get({ ...session, "last-event-id": id ?? "" })).status).toBe(400);
  });

  it("begins anew if it was the session's own and the process that kept it has ended", async () => {
    const { a, b } = await start();
    const session = await a.initialize();
    const { value } = await eventsOf(await a.get(session)).next();
    await a.endpoint.close();
    await a.replica.close();
    const events = eventsOf(await b.get({ ...session, "last-event-id": value?.id ?? "" }));
    await events.next();
    b.plane.pushAll({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    expect(await nextMessage(events)).toMatchObject({ method: "notifications/tools/list_changed" });
  });
});
