import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/mcp/protocol.ts";
import { eventsOf, legacy, messagesOf, modern, type SeenEvent } from "../mcp/sample-endpoint.ts";
import { type EraServer, startEraServer } from "./era-server.ts";
import { some } from "../kit/effort.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type PayServer, startPayServer } from "./pay-server.ts";
import { STATES, type StateService } from "./replicas/states.ts";

/** Two gateways, each a process of its own, on one state. */
let a: GatewayProcess;
let b: GatewayProcess;
let pay: PayServer;
let old: EraServer;
let young: EraServer;
let state: StateService;
const folder = mkdtempSync(join(tmpdir(), "toolarsenal-replicas-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(): Promise<GatewayProcess> {
  const remote = ({ url }: { readonly url: string }) => ({ type: "http", url }) as const;
  return startGateway({
    servers: { pay: remote(pay), old: remote(old), young: remote(young) },
    mode: "static",
    tier: "lexical",
    settings: {
      ...state.settings,
      security: { require_confirmation: ["pay"], self_approval: "local" },
      toolsets: [{ name: "youngsters", include: { namespaces: ["young"] } }],
    },
  });
}

const ABILITIES = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
const ACCEPT = "application/json, text/event-stream";

interface Called {
  readonly result?: JsonObject & { readonly content?: readonly { readonly text: string }[] };
  readonly error?: JsonObject;
}

/** A modern client's call of a tool, at one of the gateways. */
async function call({ url }: GatewayProcess, name: string, more: JsonObject): Promise<Called> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      accept: ACCEPT,
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify(modern(1, "tools/call", { name, ...more }, ABILITIES)),
  });
  if (response.headers.get("content-type") === "application/json") return (await response.json()) as Called;
  return (await messagesOf(response)).at(-1) as Called;
}

/** Accepts every question of a result with the same content. */
function accepted(asked: Called | undefined, content: JsonObject): JsonObject {
  const { inputRequests = {}, requestState } = asked?.result ?? {};
  const keys = Object.keys(inputRequests as JsonObject);
  expect(keys).toHaveLength(1);
  return { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, { action: "accept", content }])) };
}

const said = ({ result }: Called): string | undefined => result?.content?.[0]?.text;

type Session = Readonly<Record<string, string>>;

/** A message of an older client, at one of the gateways. */
function post({ url }: GatewayProcess, message: JsonObject, session: Session = {}, path = "/mcp"): Promise<Response> {
  const headers = { accept: ACCEPT, "content-type": "application/json", ...session };
  return fetch(url + path, { method: "POST", headers, body: JSON.stringify(message) });
}

async function initialize(gateway: GatewayProcess, path = "/mcp"): Promise<Session> {
  const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "test" } };
  const response = await post(gateway, legacy("init", "initialize", params), {}, path);
  await response.text();
  const session = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
  await post(gateway, { jsonrpc: "2.0", method: "notifications/initialized" }, session, path);
  return session;
}

const toolCall = (id: number, name: string, args: JsonObject = {}): JsonObject =>
  legacy(id, "tools/call", { name, arguments: args });

describe.each(some(STATES, 1, "replicas"))("two gateway processes on $name", ({ open }) => {
  beforeAll(async () => {
    [pay, old, young, state] = await Promise.all([
      startPayServer(),
      startEraServer("legacy"),
      startEraServer("modern"),
      open(folder),
    ]);
    a = await start();
    b = await start();
  });
  afterAll(async () => {
    await Promise.all([a, b, pay, old, young].map((started) => started.close()));
    await state.close();
  });

  it("let a modern client answer an older server's question at the other process", async () => {
    const request = { arguments: { call: 8 } };
    const asked = await call(a, "old-greet", request);
    const answered = { ...request, ...accepted(asked, { name: "Ada" }) };
    expect(said(await call(b, "old-greet", answered))).toBe("8: hello Ada");
    expect(await call(b, "old-greet", answered)).toMatchObject({ error: { code: -32602 } });
  });

  it("let an older client go on with a toolset's session at the other process, at that toolset's address only", async () => {
    const path = "/mcp/toolsets/youngsters";
    const session = await initialize(a, path);
    expect(await messageOf(await post(b, toolCall(1, "young-count"), session, path))).toMatchObject({
      id: 1,
      result: { content: [{ text: "counted" }] },
    });
    expect(await messageOf(await post(b, toolCall(2, "pay-pay"), session, path))).toMatchObject({
      id: 2,
      error: { message: "Unknown tool: pay-pay" },
    });
    for (const gateway of [a, b]) expect((await post(gateway, toolCall(3, "young-count"), session)).status).toBe(404);
  });

  it("let an older client use, cancel and end its session at the other process", async () => {
    const session = await initialize(a);
    expect(await messageOf(await post(b, toolCall(1, "young-count"), session))).toMatchObject({
      id: 1,
      result: { content: [{ text: "counted" }] },
    });

    const [waiting, cancelled] = [once(old.events, "waiting"), once(old.events, "cancelled")];
    const running = post(a, toolCall(2, "old-wait"), session);
    await waiting;
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } };
    expect((await post(b, cancel, session)).status).toBe(202);
    await cancelled;
    expect((await messagesOf(await running)).filter((message) => "id" in (message as JsonObject))).toEqual([]);

    expect((await fetch(`${b.url}/mcp`, { method: "DELETE", headers: session })).status).toBe(200);
    expect((await post(b, legacy(3, "tools/list"), session)).status).toBe(404);
    // The other process hears of it within a second.
    let status = 200;
    while (status === 200) ({ status } = await post(a, legacy(4, "ping"), session));
    expect(status).toBe(404);
  });

  it("let an older client answer at the other process what the first one asked", async () => {
    const session = await initialize(a);
    const events = eventsOf(await post(a, toolCall(1, "old-greet", { call: 1 }), session));
    const asked = await nextMessage(events);
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await post(b, { jsonrpc: "2.0", id: asked["id"], result }, session)).status).toBe(202);
    expect(await nextMessage(events)).toMatchObject({ id: 1, result: { content: [{ text: "1: hello Ada" }] } });
  });

  describe("after one of them was killed", () => {
    const [paying, remembering, greeting] = [
      { arguments: { amount: 5 } },
      { arguments: {} },
      { arguments: { call: 9 } },
    ];
    let asked: readonly Called[];
    let session: Session;

    beforeAll(async () => {
      asked = [
        await call(a, "pay-pay", paying),
        await call(a, "young-remember", remembering),
        await call(a, "old-greet", greeting),
        await call(a, "pay-pay", { arguments: { amount: 6 } }),
      ];
      session = await initialize(a);
      process.kill(a.pid, "SIGKILL");
    });

    it("the other runs the call that waited for its approval, once", async () => {
      const answered = { ...paying, ...accepted(asked[0], { approve: true }) };
      expect(said(await call(b, "pay-pay", answered))).toBe("paid 5");
      expect((await call(b, "pay-pay", answered)).result).toMatchObject({ isError: true });
      expect(pay.paid).toEqual([5]);
    });

    it("the other goes on with the question of a modern server", async () => {
      const answered = { ...remembering, ...accepted(asked[1], { name: "Ada" }) };
      expect(said(await call(b, "young-remember", answered))).toBe("welcome back, Ada");
    });

    it("the other says that the outcome is unknown of a call that was in the middle of an older server", async () => {
      const { error } = await call(b, "old-greet", { ...greeting, ...accepted(asked[2], { name: "Ada" }) });
      expect(error).toMatchObject({
        message: expect.stringContaining("its outcome is unknown. Check whether the call took effect") as string,
        data: { code: "OUTCOME_UNKNOWN" },
      });
    });

    it("the other goes on with an older client's session", async () => {
      expect(await messageOf(await post(b, legacy(1, "ping"), session))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    });

    it("a gateway started later runs the call that waited for its approval, when no other is left", async () => {
      await b.close();
      b = await start();
      const answered = { arguments: { amount: 6 }, ...accepted(asked[3], { approve: true }) };
      expect(said(await call(b, "pay-pay", answered))).toBe("paid 6");
    });
  });
});

async function messageOf(response: Response): Promise<unknown> {
  if (response.headers.get("content-type") === "application/json") return response.json();
  return (await messagesOf(response)).at(-1);
}

async function nextMessage(events: AsyncGenerator<SeenEvent, void, undefined>): Promise<JsonObject> {
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error("The stream has ended.");
    if (value.data !== "") return JSON.parse(value.data) as JsonObject;
  }
}
