import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  SAMPLE_TOOLS,
  startLegacyServer,
  startModernServer,
  type UpstreamServer,
} from "../../../../../test/mcp/upstream-server.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import type { Ask } from "../../../../mcp/connection.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import type { McpServerSettings } from "../settings.ts";
import { createUpstream, type McpUpstream, type UpstreamChange, type UpstreamParts } from "./upstream.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

async function started(start: () => Promise<UpstreamServer>): Promise<UpstreamServer> {
  const server = await start();
  cleanups.push(() => server.close().catch(() => {}));
  return server;
}

function upstreamOf(url: string, parts: UpstreamParts = {}, more: Partial<McpServerSettings> = {}): McpUpstream {
  const upstream = createUpstream({ name: "sample", transport: { kind: "http", url }, ...more }, parts);
  cleanups.push(() => upstream.close());
  return upstream;
}

async function connected(
  start: () => Promise<UpstreamServer>,
  parts: UpstreamParts = {},
  more: Partial<McpServerSettings> = {},
) {
  const server = await started(start);
  const upstream = upstreamOf(server.url, parts, more);
  await upstream.attempted;
  expect(upstream.state.kind).toBe("connected");
  return { server, upstream };
}

/** Resolves with the next change that fits. */
function next(upstream: McpUpstream, fits: (change: UpstreamChange) => boolean): Promise<UpstreamChange> {
  return new Promise((resolve) => {
    const end = upstream.watch((change) => {
      if (!fits(change)) return;
      end();
      resolve(change);
    });
  });
}

const isState = (kind: string) => (change: UpstreamChange) => change.kind === "state" && change.state.kind === kind;
const isListed = (change: UpstreamChange): boolean => change.kind === "listed" && change.listing === "tools";
const answering = (said: unknown): Ask => {
  return async (_, params) => ({ action: "accept", content: { said, message: params?.["message"] } });
};
const textOf = (result: JsonObject): unknown => (result["content"] as readonly JsonObject[])[0]?.["text"];
const names = async (upstream: McpUpstream): Promise<readonly unknown[]> =>
  (await upstream.list("tools")).map(({ name }) => name);

const eras = [
  ["legacy", startLegacyServer],
  ["modern", startModernServer],
] as const;

describe.each(eras)("an upstream of a %s server", (era, start) => {
  it("connects by itself and says what it found", async () => {
    const { upstream } = await connected(start);
    expect(upstream.state).toMatchObject({ kind: "connected", era });
  });

  it("lists tools over a hundred pages, once until they change [000-7.1-list]", async () => {
    const { server, upstream } = await connected(start);
    server.pages = Array.from({ length: 100 }, (_, page) => [
      { name: `tool ${page}`, inputSchema: { type: "object" } },
    ]);
    const [first, second] = await Promise.all([names(upstream), names(upstream)]);
    expect([first.length, first[99], second]).toEqual([100, "tool 99", first]);
    expect(await upstream.list("prompts")).toEqual([]);
    expect(server.requests.filter(({ body }) => String(body["method"]).endsWith("/list"))).toHaveLength(100);
  });

  it("lists again when the server says that its tools changed [000-7.1-list-changed]", async () => {
    const { server, upstream } = await connected(start);
    expect(await names(upstream)).toHaveLength(5);
    if (era === "modern") await requested(server, "subscriptions/listen");
    else await requested(server, "GET");
    server.pages = [[{ name: "new", inputSchema: { type: "object" } }]];
    const changed = next(upstream, isListed);
    await server.listChanged();
    await changed;
    expect(await names(upstream)).toEqual(["new"]);
  });

  it("has the caller answer what the server asks", async () => {
    const { upstream } = await connected(start);
    const result = await upstream.request(
      "tools/call",
      { name: "ask", arguments: { text: "Sure?" } },
      { ask: answering("yes") },
    );
    expect(textOf(result)).toBe('{"said":"yes","message":"Sure?"}');
  });

  it("comes back after the server was restarted, with the tools it has then [004-mcp-reconnect] [002-mcp-retries]", async () => {
    const clock = createManualClock();
    const { server, upstream } = await connected(start, { clock, random: () => 0 });
    expect(await names(upstream)).toHaveLength(5);
    await server.close();
    const failed = next(upstream, isState("failed"));
    while (upstream.state.kind === "connected") await upstream.request("tools/list").catch(() => {});
    await failed;
    expect(upstream.state).toMatchObject({ kind: "failed", retryAt: clock.now() + 500 });
    await expect(upstream.request("tools/list")).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });

    const revived = await started(() => start(server.port));
    revived.pages = [[{ name: "revived", inputSchema: { type: "object" } }]];
    const back = next(upstream, isState("connected"));
    await clock.advance(500);
    await back;
    expect(await names(upstream)).toEqual(["revived"]);
  });

  it("gives a session of its own to one downstream client", async () => {
    const { server, upstream } = await connected(start);
    const session = await upstream.openSession({ info: { name: "inner", version: "1" }, capabilities: {} });
    await session.request("tools/call", { name: "echo", arguments: {} });
    expect(session.era).toBe(era);
    const { body } = server.requests.findLast(
      ({ body: each }) => each["method"] === (era === "legacy" ? "initialize" : "tools/call"),
    ) as { body: JsonObject };
    expect(JSON.stringify(body)).toContain('"name":"inner"');
    await session.close();
    await expect(session.request("tools/list")).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    expect(await names(upstream)).toHaveLength(5);
  });
});

/** Waits until a server got a request of this method. */
function requested(server: UpstreamServer, method: string): Promise<void> {
  return until(() => server.requests.some((request) => request.method === method || request.body["method"] === method));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => void setImmediate(resolve));
}

describe("questions of an old server", () => {
  it("of fifty calls at once reach their own caller each, over eight connections", async () => {
    const { server, upstream } = await connected(startLegacyServer);
    const calls = Array.from({ length: 50 }, (_, count) =>
      upstream.request(
        "tools/call",
        { name: "ask", arguments: { text: `question ${count}` } },
        { ask: answering(count) },
      ),
    );
    const answers = (await Promise.all(calls)).map(textOf);
    expect(answers).toEqual(calls.map((_, count) => `{"said":${count},"message":"question ${count}"}`));
    expect(server.requests.filter(({ body }) => body["method"] === "initialize")).toHaveLength(8);
  });

  it("of calls one after the other come over the one connection", async () => {
    const { server, upstream } = await connected(startLegacyServer);
    for (let count = 0; count < 3; count++) {
      await upstream.request("tools/call", { name: "ask", arguments: {} }, { ask: answering(count) });
    }
    expect(server.requests.filter(({ body }) => body["method"] === "initialize")).toHaveLength(1);
  });

  it("never reach a caller who asked for something else", async () => {
    const { upstream } = await connected(startLegacyServer);
    const asked: unknown[] = [];
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const asker = upstream.request(
      "tools/call",
      { name: "ask", arguments: { text: "mine" } },
      {
        ask: async (_, params) => {
          asked.push(params?.["message"]);
          reached.resolve();
          await release.promise;
          return { action: "accept", content: {} };
        },
      },
    );
    await reached.promise;
    await expect(upstream.request("tools/call", { name: "ask", arguments: { text: "not mine" } })).rejects.toThrow(
      "-32601",
    );
    release.resolve();
    await asker;
    await expect(upstream.request("tools/call", { name: "ask", arguments: {} })).rejects.toThrow("-32601");
    expect(asked).toEqual(["mine"]);
  });
});

describe("questions of a modern server", () => {
  it("are passed on as they are where the caller wants that", async () => {
    const { server, upstream } = await connected(startModernServer);
    const result = await upstream.request(
      "tools/call",
      { name: "ask", arguments: { text: "Sure?" } },
      { passInputRequired: true },
    );
    expect(result).toMatchObject({ resultType: "input_required", requestState: "state of Sure?" });
    const { body } = server.requests.findLast((request) => request.body["method"] === "tools/call") as {
      body: JsonObject;
    };
    expect(JSON.stringify(body)).toContain('"elicitation":{"form":{},"url":{}}');
  });

  it("are answered with the server's own state, in a new request", async () => {
    const { server, upstream } = await connected(startModernServer);
    await upstream.request("tools/call", { name: "ask", arguments: { text: "Sure?" } }, { ask: answering("yes") });
    const calls = server.requests.filter(({ body }) => body["method"] === "tools/call").map(({ body }) => body);
    expect(calls.map(({ params }) => (params as JsonObject)["requestState"])).toEqual([undefined, "state of Sure?"]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it("are not invited by a caller who answers none", async () => {
    const { server, upstream } = await connected(startModernServer);
    await upstream.request("tools/call", { name: "echo", arguments: {} });
    const { body } = server.requests.findLast((request) => request.body["method"] === "tools/call") as {
      body: JsonObject;
    };
    expect(JSON.stringify(body)).toContain(
      '"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}',
    );
  });
});

describe("a session that the server forgot", () => {
  it("is opened again, and requests that only read are sent once more", async () => {
    const { server, upstream } = await connected(startLegacyServer);
    server.forgetSessions();
    const lists = Array.from({ length: 10 }, () => upstream.request("tools/list"));
    for (const { tools } of await Promise.all(lists)) expect(tools).toHaveLength(SAMPLE_TOOLS.length);
    expect(server.sessions).toBe(1);
    expect(upstream.state.kind).toBe("connected");
  });

  it("is opened again for the next call; one that found it gone is not sent again", async () => {
    const { server, upstream } = await connected(startLegacyServer);
    server.forgetSessions();
    const call = { name: "echo", arguments: { text: "hi" } };
    await expect(upstream.request("tools/call", call)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(textOf(await upstream.request("tools/call", call))).toBe("hi");
    expect(server.requests.filter(({ body }) => body["method"] === "tools/call")).toHaveLength(2);
    expect(server.sessions).toBe(1);
    expect(upstream.state.kind).toBe("connected");
  });
});

describe("a resource that somebody wants to know about", () => {
  const isUpdate = (change: UpstreamChange): boolean =>
    change.kind === "notification" && change.notification.method === "notifications/resources/updated";

  it.each(eras)(
    "is told of by a %s server, once for all who want to know, and again after a restart",
    async (_, start) => {
      const clock = createManualClock();
      const { server, upstream } = await connected(start, { clock, random: () => 0 });
      const [first, second] = [new AbortController(), new AbortController()];
      await upstream.subscribe("sample:a", { signal: first.signal });
      await upstream.subscribe("sample:a", { signal: second.signal });
      expect(server.subscribed("sample:a")).toBe(1);
      first.abort();
      const updated = next(upstream, isUpdate);
      await server.resourceUpdated("sample:a");
      expect(await updated).toMatchObject({ notification: { params: { uri: "sample:a" } } });

      const failed = next(upstream, isState("failed"));
      await server.close();
      while (upstream.state.kind === "connected") await upstream.request("tools/list").catch(() => {});
      await failed;
      const revived = await started(() => start(server.port));
      const back = next(upstream, isUpdate);
      await clock.advance(500);
      await back;
      await until(() => revived.subscribed("sample:a") === 1);
      second.abort();
      await until(() => revived.subscribed("sample:a") === 0);
    },
  );
});

describe("a server that does not answer", () => {
  it("fails its attempt at the deadline, is tried again with growing pauses, and delays nobody", async () => {
    const hung = createServer(() => {});
    hung.listen(0, "127.0.0.1");
    await once(hung, "listening");
    cleanups.push(async () => void hung.close());
    const clock = createManualClock();
    const dead = upstreamOf(`http://127.0.0.1:${(hung.address() as AddressInfo).port}`, { clock, random: () => 1 });
    await connected(startModernServer);
    expect(dead.state.kind).toBe("connecting");
    await expect(dead.request("tools/list")).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });

    const retries: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      await clock.advance(30_000);
      await dead.attempted;
      if (dead.state.kind !== "failed") throw new Error(dead.state.kind);
      retries.push(dead.state.retryAt - clock.now());
      const { error } = dead.state;
      await clock.advance(dead.state.retryAt - clock.now());
      // While the next attempt is under way, the state still says what went wrong.
      expect(dead.state).toEqual({ kind: "connecting", error });
    }
    expect(retries).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });
});

it("does not let a malformed tool cost the others", async () => {
  const reported: unknown[] = [];
  const { server, upstream } = await connected(startModernServer, { report: (problem) => reported.push(problem) });
  const badHeader = { type: "object", properties: { a: { type: "array", "x-mcp-header": "A" } } };
  server.pages = [[{ name: "a", inputSchema: {} }, { title: "nameless" }, { name: "b", inputSchema: badHeader }]];
  expect(await names(upstream)).toEqual(["a"]);
  expect(reported).toEqual([
    { listing: "tools", name: "undefined", reason: "Its name is undefined." },
    { listing: "tools", name: "b", reason: "The x-mcp-header of a is not on a string, an integer or a boolean." },
  ]);
});

it("is closed once for all", async () => {
  const { server, upstream } = await connected(startLegacyServer);
  await upstream.close();
  await upstream.close();
  expect([upstream.state.kind, server.sessions]).toEqual(["closed", 0]);
  await expect(upstream.request("tools/list")).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
});
