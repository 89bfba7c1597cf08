import { describe, expect, it } from "vitest";
import {
  ASK_NAME,
  createSamplePlane,
  type SamplePlane,
  type SampleTool,
  text,
} from "../../../../test/mcp/sample-plane.ts";
import type { JsonObject, RequestId, RpcMessage } from "../../../mcp/protocol.ts";
import { localOperator } from "../../../guard/principal.ts";
import { createLegacySession, type LegacySession } from "./legacy-session.ts";

interface Conversation extends LegacySession {
  readonly plane: SamplePlane;
  /** What the client got, with the request it relates to. */
  readonly got: readonly (readonly [RpcMessage, RequestId | undefined])[];
  readonly dropped: readonly RequestId[];
  /** The next message that fits, also one that has come. */
  until(fits: (message: JsonObject) => boolean): Promise<JsonObject>;
  request(id: RequestId, method: string, params?: JsonObject): Promise<JsonObject>;
  call(id: RequestId, name: string, args?: JsonObject): Promise<JsonObject>;
}

function converse(more?: Readonly<Record<string, SampleTool>>, plane = createSamplePlane(more)): Conversation {
  const got: [RpcMessage, RequestId | undefined][] = [];
  const dropped: RequestId[] = [];
  const waiting = new Set<() => void>();
  const session = createLegacySession({
    plane,
    principal: localOperator(),
    send(message, relatedTo) {
      got.push([message, relatedTo]);
      for (const look of waiting) look();
    },
    dropped: (id) => void dropped.push(id),
  });
  const until: Conversation["until"] = (fits) =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = got.map(([message]) => message as unknown as JsonObject).find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const request: Conversation["request"] = (id, method, params) => {
    session.receive({ jsonrpc: "2.0", id, method, ...(params && { params }) }, { headers: { "x-test": "1" } });
    return until((message) => message["id"] === id && !("method" in message));
  };
  return Object.assign(session, {
    plane,
    got,
    dropped,
    until,
    request,
    call: (id: RequestId, name: string, args: JsonObject = {}) =>
      request(id, "tools/call", { name, arguments: args, _meta: { progressToken: "t" } }),
  });
}

async function initialized(
  capabilities: JsonObject = { elicitation: {} },
  more?: Readonly<Record<string, SampleTool>>,
): Promise<Conversation> {
  const client = converse(more);
  const clientInfo = { name: "old", version: "1" };
  await client.request("init", "initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo });
  client.receive({ jsonrpc: "2.0", method: "notifications/initialized" });
  return client;
}

const ECHOED = { content: [{ type: "text", text: "hi" }] };

describe("legacy session: initialize", () => {
  it("answers with the plane's description and tells the plane who the client is", async () => {
    const client = converse();
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: { roots: {} },
      clientInfo: { name: "c", version: "2" },
    };
    expect(await client.request(1, "initialize", params)).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: "sample", version: "1.2.3" },
        instructions: "Be kind.",
      },
    });
    expect(client.protocolVersion).toBe("2025-06-18");
    expect(client.plane.sessions[0]?.peer).toEqual({
      era: "legacy",
      protocolVersion: "2025-06-18",
      info: { name: "c", version: "2" },
      capabilities: { roots: {} },
      principal: localOperator(),
    });
  });

  it.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2024-11-05"],
    ["2026-07-28", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
  ])("answers a wish for %s with %s", async (protocolVersion, agreed) => {
    const answered = await converse().request(1, "initialize", { protocolVersion, capabilities: {} });
    expect(answered["result"]).toMatchObject({ protocolVersion: agreed });
  });

  it("refuses one without a version, and a second one", async () => {
    const client = converse();
    expect(await client.request(1, "initialize", {})).toMatchObject({ error: { code: -32602 } });
    await client.request(2, "initialize", { protocolVersion: "2025-11-25" });
    expect(await client.request(3, "initialize", { protocolVersion: "2025-11-25" })).toMatchObject({
      error: { code: -32600, message: "This session is already initialized." },
    });
  });

  it("may be tried again after the plane failed", async () => {
    const plane = createSamplePlane();
    const { openSession } = plane;
    let attempts = 0;
    plane.openSession = (...args) => (++attempts === 1 ? Promise.reject(new Error("down")) : openSession(...args));
    const client = converse({}, plane);
    const params = { protocolVersion: "2025-11-25" };
    expect(await client.request(1, "initialize", params)).toMatchObject({ error: { code: -32603 } });
    expect(client.protocolVersion).toBeUndefined();
    expect(await client.request(2, "initialize", params)).toHaveProperty("result");
  });

  it("cannot be cancelled", async () => {
    const client = converse();
    const answered = client.request(1, "initialize", { protocolVersion: "2025-11-25" });
    client.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    expect(client.dropped).toEqual([]);
    expect(await answered).toHaveProperty("result");
  });

  it("must come before other requests, but not before ping", async () => {
    const client = converse();
    expect(await client.call(1, "echo")).toMatchObject({ error: { code: -32600 } });
    expect(await client.request(2, "ping")).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
    expect(client.plane.exchanges).toEqual([]);
  });

  it("lets requests follow before it is answered", async () => {
    const client = converse();
    void client.request(1, "initialize", { protocolVersion: "2025-11-25" });
    expect(await client.call(2, "echo", { text: "hi" })).toEqual({ jsonrpc: "2.0", id: 2, result: ECHOED });
    expect(client.got.map(([message]) => "id" in message && message.id)).toEqual([1, 2]);
  });

  it("is answered before anything that the plane pushes meanwhile", async () => {
    const plane = createSamplePlane();
    const { openSession } = plane;
    plane.openSession = (peer, channel) => {
      channel.push({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return openSession(peer, channel);
    };
    const client = converse({}, plane);
    await client.request(1, "initialize", { protocolVersion: "2025-11-25" });
    expect(client.got.map(([message]) => ("method" in message ? message.method : message.id))).toEqual([
      1,
      "notifications/tools/list_changed",
    ]);
  });
});

describe("legacy session: requests", () => {
  it("reach the plane with their headers, and are answered with the raw result", async () => {
    const client = await initialized();
    expect(await client.call(1, "echo", { text: "hi" })).toEqual({ jsonrpc: "2.0", id: 1, result: ECHOED });
    expect(client.plane.exchanges[0]).toMatchObject({ id: 1, method: "tools/call", headers: { "x-test": "1" } });
  });

  it("are the sender's own, who may be allowed less than when the session was opened", async () => {
    const client = await initialized();
    const sender = localOperator({ scopes: [] });
    client.receive({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { principal: sender });
    await client.until((message) => message["id"] === 1);
    expect(client.plane.exchanges[0]?.peer).toMatchObject({ protocolVersion: "2025-06-18", principal: sender });
  });

  it("run side by side, and each is answered when it is done", async () => {
    const client = await initialized();
    const slow = client.call(1, "wait");
    expect(await client.call(2, "echo", { text: "hi" })).toHaveProperty("result");
    client.plane.release();
    expect(await slow).toMatchObject({ result: text("waited") });
  });

  it('are refused while one with the same id runs; 1 and "1" are different ids', async () => {
    const client = await initialized();
    void client.call(1, "wait");
    expect(await client.call(1, "echo")).toMatchObject({ error: { code: -32600 } });
    expect(await client.call("1", "echo", { text: "hi" })).toHaveProperty("result");
    expect(client.plane.exchanges).toHaveLength(2);
  });

  it("have their notifications sent in their name, and none after the answer", async () => {
    const client = await initialized();
    await client.call(7, "progress");
    client.plane.exchanges[0]?.notify({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
    expect(
      client.got.slice(1).map(([message, relatedTo]) => ["method" in message && message.method, relatedTo]),
    ).toEqual([
      ["notifications/progress", 7],
      ["notifications/progress", 7],
      [false, 7],
    ]);
    expect(client.got[1]?.[0]).toMatchObject({ params: { progressToken: "t", progress: 1, total: 2 } });
  });

  it("fail with an internal error that tells nothing of the machine", async () => {
    const client = await initialized();
    expect(await client.call(1, "fail")).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "Internal error: the request could not be answered." },
    });
  });

  it("fail with our own error's code on the wire, and with a peer's error as it came", async () => {
    const client = await initialized();
    expect(await client.call(1, "deny")).toMatchObject({
      error: { code: -32003, message: "The call needs the scope mail.send.", data: { code: "PERMISSION_DENIED" } },
    });
    expect(await client.request(2, "resources/read", { uri: "a:b" })).toMatchObject({
      error: { code: -32002, message: "Resource not found", data: { uri: "a:b" } },
    });
  });

  it("are cancelled at once and never answered", async () => {
    const client = await initialized();
    void client.call(1, "wait");
    const { signal } = client.plane.exchanges[0] ?? {};
    client.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "enough" } });
    expect(signal?.aborted).toBe(true);
    expect(client.dropped).toEqual([1]);
    await client.idle();
    await client.call(2, "echo");
    expect(client.got.some(([message]) => "id" in message && message.id === 1)).toBe(false);
    expect(await client.call(1, "echo", { text: "hi" })).toHaveProperty("result");
  });
});

describe("legacy session: other messages", () => {
  it("hands other notifications to the plane, and ignores the cancellation of nothing", async () => {
    const client = await initialized();
    client.receive({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
    client.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } });
    client.receive({ jsonrpc: "2.0", method: "notifications/cancelled" });
    await client.request(1, "ping");
    await client.call(2, "echo");
    expect(client.plane.notifications).toEqual([{ jsonrpc: "2.0", method: "notifications/roots/list_changed" }]);
  });

  it.each([
    [[], null],
    [{ jsonrpc: "2.0", id: 5 }, 5],
    [{ id: 5, method: "ping" }, 5],
  ])("answers the malformed %j with an error", (message, id) => {
    const client = converse();
    client.receive(message);
    expect(client.got[0]?.[0]).toMatchObject({ id, error: { code: -32600 } });
  });

  it("passes on what the plane pushes, outside any request", async () => {
    const client = await initialized();
    client.plane.pushAll({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    expect(client.got.at(-1)).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }, undefined]);
  });
});

describe("legacy session: questions to the client", () => {
  it("go out under an id of our own in the name of the request, and their answer reaches who asked", async () => {
    const client = await initialized();
    const greeted = client.call("q", "greet");
    const question = await client.until((message) => message["method"] === "elicitation/create");
    expect(client.got.at(-1)).toEqual([{ jsonrpc: "2.0", id: 1, method: "elicitation/create", params: ASK_NAME }, "q"]);
    client.receive({ jsonrpc: "2.0", id: question["id"], result: { action: "accept", content: { name: "Ada" } } });
    expect(await greeted).toMatchObject({ result: text("Hello Ada") });
  });

  it("fail with the client's own error", async () => {
    const client = await initialized();
    const greeted = client.call(1, "greet");
    const { id } = await client.until((message) => message["method"] === "elicitation/create");
    client.receive({ jsonrpc: "2.0", id, error: { code: -1, message: "User rejected" } });
    expect(await greeted).toMatchObject({ error: { code: -1, message: "User rejected" } });
  });

  it.each([
    [{}, "elicitation/create", ASK_NAME, "elicitation"],
    [{ elicitation: {} }, "elicitation/create", { mode: "url" }, "elicitation.url"],
    [{ elicitation: {} }, "sampling/createMessage", {}, "sampling"],
    [{ sampling: true }, "sampling/createMessage", {}, "sampling"],
    [{}, "roots/list", undefined, "roots"],
  ])("are not sent to a client with %j for %s", async (capabilities, method, params, missing) => {
    const client = await initialized(capabilities, {
      ask: (_args, { ask, signal }) => ask(method, params, { signal }),
    });
    expect(await client.call(1, "ask")).toMatchObject({
      error: { code: -32601, message: expect.stringContaining(`the capability ${missing},`) as string },
    });
    expect(client.got.some(([message]) => "method" in message)).toBe(false);
  });

  it("are withdrawn when who asked gives up", async () => {
    const controller = new AbortController();
    const client = await initialized(undefined, {
      ask: (_args, { ask }) => ask("elicitation/create", ASK_NAME, { signal: controller.signal }),
    });
    const asked = client.call("q", "ask");
    const { id } = await client.until((message) => message["method"] === "elicitation/create");
    controller.abort(new Error("gone"));
    expect(client.got.at(-1)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: id, reason: "The answer is no longer needed." },
      },
      "q",
    ]);
    client.receive({ jsonrpc: "2.0", id, result: {} });
    expect(await asked).toMatchObject({ error: { code: -32603 } });
  });

  it("are withdrawn when the client cancels the request they belong to", async () => {
    const client = await initialized();
    void client.call("q", "greet");
    await client.until((message) => message["method"] === "elicitation/create");
    client.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "q" } });
    expect(client.got.at(-1)?.[0]).toMatchObject({ method: "notifications/cancelled" });
  });

  it("can be asked outside any request", async () => {
    const client = await initialized({ roots: {} });
    const roots = client.plane.sessions[0]?.ask("roots/list", undefined, { signal: new AbortController().signal });
    expect(client.got.at(-1)).toEqual([{ jsonrpc: "2.0", id: 1, method: "roots/list" }, undefined]);
    client.receive({ jsonrpc: "2.0", id: 1, result: { roots: [] } });
    expect(await roots).toEqual({ roots: [] });
  });

  it("come to the right asker when 50 are open at once", async () => {
    const client = await initialized();
    const calls = Array.from({ length: 50 }, (_, index) => client.call(`call-${index}`, "greet"));
    await client.until((message) => message["method"] === "elicitation/create" && message["id"] === 50);
    const questions = client.got.filter(([message]) => "method" in message && "id" in message);
    for (const [message, relatedTo] of questions.toReversed()) {
      const { id } = message as { readonly id: number };
      client.receive({ jsonrpc: "2.0", id, result: { action: "accept", content: { name: relatedTo } } });
    }
    const greetings = await Promise.all(calls);
    expect(greetings.map(({ result }) => result)).toEqual(
      Array.from({ length: 50 }, (_, index) => text(`Hello call-${index}`)),
    );
  });
});

describe("legacy session: close", () => {
  it("aborts what runs, withdraws what was asked, and closes the plane's session", async () => {
    const client = await initialized({ roots: {}, elicitation: {} });
    void client.call(1, "wait");
    const roots = client.plane.sessions[0]?.ask("roots/list", undefined, { signal: new AbortController().signal });
    const { signal } = client.plane.exchanges[0] ?? {};
    const refused = expect(roots).rejects.toThrow("The client's session has ended.");
    await client.close();
    await refused;
    expect(signal?.aborted).toBe(true);
    expect(client.plane.sessions).toEqual([]);
    const sent = client.got.length;
    client.receive({ jsonrpc: "2.0", id: 2, method: "ping" });
    expect(client.got).toHaveLength(sent);
  });

  it("tells when nothing is pending any more", async () => {
    const client = await initialized();
    void client.call(1, "wait");
    let idle = false;
    const waited = client.idle().then(() => (idle = true));
    await client.call(2, "echo");
    expect(idle).toBe(false);
    client.plane.release();
    await waited;
    await client.idle();
  });
});
