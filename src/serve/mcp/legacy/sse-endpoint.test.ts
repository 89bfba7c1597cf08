import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import { bearerToken } from "../../../adapters/identity/bearer-token.ts";
import { RPC, RpcError, type JsonObject } from "../../../mcp/protocol.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { aloneOnMemory } from "../../../../test/mcp/sample-endpoint.ts";
import { sharedMemory } from "../../../../test/mcp/shared-memory.ts";
import { createReplica, type Replica } from "../../replica.ts";
import { createHttpServer, type HttpServerOptions } from "../../http/http-server.ts";
import type { Exchange, Peer, Plane, PlaneSession, Push } from "../plane.ts";
import { createMcpRoom } from "../room.ts";
import { createSseEndpoint, type SseEndpoint } from "./sse-endpoint.ts";
import type { ModernRequestsOptions } from "../modern/suspended-calls.ts";

interface EchoPlane extends Plane {
  /** Who opened the sessions, in order. */
  readonly peers: readonly Peer[];
  readonly pushes: readonly Push[];
  /** Resolves when the next session closes. */
  closedSession(): Promise<void>;
  /** Resolves when a call is waiting, with its signal. */
  readonly waiting: Promise<AbortSignal>;
}

/** A plane with three tools: `echo`, `ask`, which asks the client, and `wait`, which never answers. */
function echoPlane(): EchoPlane {
  const peers: Peer[] = [];
  const pushes: Push[] = [];
  const closings: (() => void)[] = [];
  const waiting = Promise.withResolvers<AbortSignal>();

  async function call({ params, notify, ask, signal }: Exchange): Promise<JsonObject> {
    const given = params["arguments"] as JsonObject;
    switch (params["name"]) {
      case "echo":
        notify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "echoing" } });
        return { content: [{ type: "text", text: given["text"] }] };
      case "ask": {
        const asked = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
        const answer = await ask("elicitation/create", asked, { signal });
        return { content: [{ type: "text", text: JSON.stringify(answer) }] };
      }
      case "wait":
        waiting.resolve(signal);
        return new Promise(() => {});
      default:
        throw new RpcError({ code: RPC.invalidParams, message: `No tool ${String(params["name"])}.` });
    }
  }

  const session: PlaneSession = {
    describe: () => Promise.resolve({ info: { name: "echo", version: "1" }, capabilities: { tools: {}, logging: {} } }),
    handle: (exchange) =>
      exchange.method === "tools/list"
        ? Promise.resolve({ tools: [{ name: "echo", inputSchema: { type: "object" } }] })
        : call(exchange),
    notified: () => {},
    close: async () => closings.shift()?.(),
  };

  return {
    name: "echo",
    peers,
    pushes,
    waiting: waiting.promise,
    closedSession: () => new Promise((resolve) => closings.push(resolve)),
    openSession(peer, { push }) {
      peers.push(peer);
      pushes.push(push);
      return Promise.resolve(session);
    },
    shared: session,
    listen: () => Promise.resolve({}),
    close: () => Promise.resolve(),
  };
}

interface Served {
  readonly url: string;
  readonly plane: EchoPlane;
  readonly endpoint: SseEndpoint;
}

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function serve(
  options: Partial<ModernRequestsOptions> = {},
  edge: Partial<HttpServerOptions> = {},
): Promise<Served> {
  const plane = echoPlane();
  const endpoint = createSseEndpoint(plane, { ...(await aloneOnMemory()), ...options });
  const server = await createHttpServer({ port: 0, routes: endpoint.routes, ...edge });
  ends.push(server.close, endpoint.close);
  return { url: server.url, plane, endpoint };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: "old", version: "1" }, { capabilities: { elicitation: {} } });
  await client.connect(new SSEClientTransport(new URL("/sse", url)));
  ends.push(() => client.close());
  return client;
}

interface RawStream {
  /** What came next on the stream. */
  next(): Promise<string>;
  readonly messages: string;
  close(): void;
}

async function openStream(url: string, headers: Record<string, string> = {}): Promise<RawStream> {
  const aborter = new AbortController();
  const response = await fetch(`${url}/sse`, { headers, signal: aborter.signal });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  async function next(): Promise<string> {
    const { value, done } = await reader.read();
    return done ? "(end)" : Buffer.from(value).toString("utf8");
  }
  const [, messages = ""] =
    /^event: endpoint\ndata: (\/sse\/messages\?sessionId=[\w.-]{32,})\n\n$/.exec(await next()) ?? [];
  ends.push(async () => aborter.abort());
  return { next, messages: url + messages, close: () => aborter.abort() };
}

function post(url: string, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify(message);
  return fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

describe("a client of SDK 1.x over HTTP+SSE [000-7.2-http-server]", () => {
  it("lists and calls, and gets what belongs to a call before its answer", async () => {
    const { url, plane } = await serve();
    const client = await connect(url);
    const logged: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    const text = 'two\nlines and "quotes" ✓';
    expect(await client.callTool({ name: "echo", arguments: { text } })).toEqual({ content: [{ type: "text", text }] });
    expect(logged).toEqual(["echoing"]);
    expect(plane.peers).toMatchObject([{ era: "legacy", info: { name: "old" }, principal: { id: "local" } }]);
    await expect(client.callTool({ name: "absent", arguments: {} })).rejects.toThrow("No tool absent.");
  });

  it("answers what it is asked", async () => {
    const { url } = await serve();
    const client = await connect(url);
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));
    expect(await client.callTool({ name: "ask", arguments: {} })).toEqual({
      content: [{ type: "text", text: '{"action":"accept","content":{}}' }],
    });
  });

  it("has its calls aborted and its session closed when it goes", async () => {
    const { url, plane } = await serve();
    const client = await connect(url);
    const closed = plane.closedSession();
    const call = client.callTool({ name: "wait", arguments: {} }).catch((error: unknown) => String(error));
    const signal = await plane.waiting;
    await client.close();
    await closed;
    expect(signal.aborted).toBe(true);
    expect(await call).toContain("Connection closed");
  });

  it("shares nothing with another", async () => {
    const { url, plane } = await serve();
    const [one, other] = [await connect(url), await connect(url)];
    const told: string[] = [];
    one.setNotificationHandler(LoggingMessageNotificationSchema, () => void told.push("one"));
    other.setNotificationHandler(LoggingMessageNotificationSchema, () => void told.push("other"));
    plane.pushes[1]?.({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } });
    await Promise.all([one.ping(), other.ping()]);
    expect(told).toEqual(["other"]);
  });
});

describe("the stream", () => {
  it("begins with the address for messages, and carries their answers", async () => {
    const { url } = await serve();
    const stream = await openStream(url);
    const posted = await post(stream.messages, ping);
    expect([posted.status, await posted.text()]).toEqual([202, ""]);
    expect(await stream.next()).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  });

  it("says something every 15 s, as long as there is one", async () => {
    const clock = createManualClock();
    const { url, plane } = await serve({ clock });
    expect(clock.pending).toBe(0);
    const stream = await openStream(url);
    await post(stream.messages, { ...ping, method: "initialize", params: { protocolVersion: "2024-11-05" } });
    await stream.next();
    await clock.advance(14_999);
    await clock.advance(1);
    expect(await stream.next()).toBe(": keep-alive\n\n");
    await clock.advance(15_000);
    expect(await stream.next()).toBe(": keep-alive\n\n");
    const closed = plane.closedSession();
    stream.close();
    await closed;
    await clock.advance(15_000);
    expect(clock.pending).toBe(0);
  });

  it("ends when the endpoint closes", async () => {
    const { url, endpoint } = await serve();
    const stream = await openStream(url);
    await endpoint.close();
    expect(await stream.next()).toBe("(end)");
    expect((await post(stream.messages, ping)).status).toBe(404);
  });

  it("is refused above the number of clients that are taken, until one goes", async () => {
    const { url, plane } = await serve({ room: createMcpRoom({ streams: 1 }) });
    const stream = await openStream(url);
    await post(stream.messages, { ...ping, method: "initialize", params: { protocolVersion: "2024-11-05" } });
    await stream.next();
    const refused = await fetch(`${url}/sse`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
    const closed = plane.closedSession();
    stream.close();
    await closed;
    await openStream(url);
  });

  it("takes a bounded number of requests at once", async () => {
    const room = createMcpRoom();
    const { url } = await serve({ room });
    const stream = await openStream(url);
    await post(stream.messages, { ...ping, method: "initialize", params: { protocolVersion: "2024-11-05" } });
    await stream.next();
    const shares = Array.from({ length: 256 }, () => room.posted.take({ id: "local" }));
    await post(stream.messages, { ...ping, id: 7 });
    expect(await stream.next()).toContain("Too many requests are in progress");
    for (const share of shares) share?.release();
    await post(stream.messages, { ...ping, id: 8 });
    expect(await stream.next()).toContain('"result"');
    expect(room.posted.all.count).toBe(0);
  });

  it("is opened by GET only, and posted to by POST only", async () => {
    const { url } = await serve();
    const opened = await post(`${url}/sse`, ping);
    expect([opened.status, opened.headers.get("allow")]).toEqual([405, "GET"]);
    const posted = await fetch(`${url}/sse/messages`);
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("a message", () => {
  it.each(["", "?sessionId=", "?sessionId=guessed", "?sessionId=__proto__"])(
    "to session %j is refused",
    async (query) => {
      const { url } = await serve();
      await openStream(url);
      expect((await post(`${url}/sse/messages${query}`, ping)).status).toBe(404);
    },
  );

  it("to somebody else's session is refused as if there were none", async () => {
    const identity = bearerToken({ tokens: ["the-token-of-the-first", "the-token-of-the-second"] });
    const { url } = await serve({}, { identity });
    const stream = await openStream(url, { authorization: "Bearer the-token-of-the-first" });
    const other = await post(stream.messages, ping, { authorization: "Bearer the-token-of-the-second" });
    const none = await post(`${url}/sse/messages`, ping, { authorization: "Bearer the-token-of-the-second" });
    expect([other.status, await other.text()]).toEqual([404, await none.text()]);
    expect((await post(stream.messages, ping)).status).toBe(401);
    const own = await post(stream.messages, ping, { authorization: "Bearer the-token-of-the-first" });
    expect(own.status).toBe(202);
  });

  it.each([
    ["a batch", [ping], 400],
    ["no JSON-RPC", { id: 1, method: "ping" }, 400],
    ["a text", "ping", 400],
  ])("that is %s is refused, and the session goes on", async (_what, message, status) => {
    const { url } = await serve();
    const stream = await openStream(url);
    const refused = await post(stream.messages, message);
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject({ error: { code: -32_600 } });
    await post(stream.messages, ping);
    expect(await stream.next()).toContain('"result":{}');
  });

  it("with another content type is refused", async () => {
    const { url } = await serve();
    const stream = await openStream(url);
    expect((await post(stream.messages, ping, { "content-type": "text/plain" })).status).toBe(415);
  });
});

describe("a message over HTTP+SSE that reaches another process than the stream", () => {
  async function two(edge: Partial<HttpServerOptions> = {}): Promise<readonly [Served, Served, Replica]> {
    const state = sharedMemory();
    const replicas = [await createReplica(state), await createReplica(state)] as const;
    ends.push(...replicas.map((replica) => () => replica.close()));
    const [a, b] = [await serve({ replica: replicas[0] }, edge), await serve({ replica: replicas[1] }, edge)];
    return [a, b, replicas[0]];
  }

  const at = (stream: RawStream, { url }: Served): string =>
    url + new URL(stream.messages).pathname + new URL(stream.messages).search;

  it("is answered on the stream", async () => {
    const [a, b] = await two();
    const stream = await openStream(a.url);
    expect((await post(at(stream, b), ping)).status).toBe(202);
    expect(await stream.next()).toContain('"id":1,"result":{}');
  });

  it("is refused if the stream is another caller's, or its process has ended", async () => {
    const identity = bearerToken({ tokens: ["the-token-of-the-first", "the-token-of-the-second"] });
    const [a, b, replica] = await two({ identity });
    const ada = { authorization: "Bearer the-token-of-the-first" };
    const stream = await openStream(a.url, ada);
    expect((await post(at(stream, b), ping, { authorization: "Bearer the-token-of-the-second" })).status).toBe(404);
    expect((await post(at(stream, b), ping, ada)).status).toBe(202);
    await replica.close();
    expect((await post(at(stream, b), ping, ada)).status).toBe(404);
  });
});
