import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type JSONRPCMessage, McpServer, type Transport } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import * as z from "zod";
import { ToolArsenal } from "../../src/arsenal.ts";
import { bearerToken } from "../../src/adapters/identity/bearer-token.ts";
import { localOperator, type Principal } from "../../src/guard/principal.ts";
import { listenAs } from "./era-server.ts";
import { httpClient } from "./no-bypass/clients.ts";

const ENVIRONMENT = {
  GITHUB_ann: "upstream-token-of-ann",
  GITHUB_bob: "upstream-token-of-bob",
  GITHUB_local: "upstream-token-of-local",
  GITHUB__default: "upstream-token-of-nobody",
};
const CLIENT_TOKENS = { ann: "client-token-of-ann-0001", bob: "client-token-of-bob-0002" };
type Name = keyof typeof CLIENT_TOKENS;

const principal = (id: string): Principal => localOperator({ id, local: false });
const open: (() => Promise<unknown>)[] = [];
/** The headers of every request that any server in this process got, by its port. */
const received: { readonly port: number | undefined; readonly headers: IncomingMessage["headers"] }[] = [];
const record: ChannelListener = (message) => {
  const { request } = message as { readonly request: IncomingMessage };
  received.push({ port: request.socket.localPort, headers: request.headers });
};

beforeEach(() => subscribe("http.server.request.start", record));
afterEach(async () => {
  unsubscribe("http.server.request.start", record);
  received.length = 0;
  for (const close of open.splice(0).toReversed()) await close();
});

/** A server whose one tool says whose credentials it was called with, and all that it was told. The credentials themselves would be redacted. */
function build(): McpServer {
  const server = new McpServer({ name: "who", version: "1.0.0" });
  const inputSchema = z.object({ number: z.number() });
  server.registerTool("whoami", { description: "Says who calls.", inputSchema }, ({ number }, { http, mcpReq }) => {
    const { headers } = (http as { readonly req: Request }).req;
    const said = { number, caller: callerOf(headers.get("authorization")), meta: mcpReq._meta };
    return { content: [{ type: "text", text: JSON.stringify(said) }] };
  });
  return server;
}

/** `ann` for `Bearer upstream-token-of-ann`. */
function callerOf(authorization: string | null | undefined): string | undefined {
  return /^Bearer upstream-token-of-(\w+)$/.exec(authorization ?? "")?.[1];
}

async function started(era: "legacy" | "modern") {
  const upstream = await listenAs(era, build);
  open.push(() => upstream.close());
  const config = { telemetry: { enabled: false }, security: { maxRequestsPerMinute: 10_000 } };
  const arsenal = new ToolArsenal({ ...config, environment: ENVIRONMENT });
  open.push(() => arsenal.close());
  const headers = { Authorization: "Bearer ${secret:env:GITHUB_{principal}}" };
  await arsenal.addMcpServer({ name: "github", transport: { kind: "http", url: upstream.url, headers } });
  return { arsenal, port: Number(new URL(upstream.url).port) };
}

function saidBy(result: unknown): { readonly number: number; readonly caller: string } {
  const { content } = result as { readonly content: readonly [{ readonly text: string }] };
  return JSON.parse(content[0].text) as { readonly number: number; readonly caller: string };
}

describe.each(["legacy", "modern"] as const)("credentials for each caller, at a %s server", (era) => {
  it.each(["/mcp", "/mcp/upstreams/github"])(
    "are each one's own in 50 interleaved calls over %s, and the clients' tokens are nowhere upstream",
    async (path) => {
      const { arsenal, port } = await started(era);
      const tokens = Object.entries(CLIENT_TOKENS).map(([id, token]) => ({ token, principal: principal(id) }));
      const served = await arsenal.serve({ mode: "static", port: 0, identity: bearerToken({ tokens }) });
      open.push(() => served.close());
      const client = async (name: Name) => {
        const headers = { authorization: `Bearer ${CLIENT_TOKENS[name]}` };
        const connected = await httpClient(era, new URL(path, served.url).href, headers);
        open.push(() => connected.close());
        return connected;
      };
      const clients = { ann: await client("ann"), bob: await client("bob") };
      const toolName = path === "/mcp" ? (await clients.ann.listTools()).tools[0]?.name : "whoami";
      const calls = Array.from({ length: 50 }, async (_, number) => {
        const name: Name = number % 2 === 0 ? "ann" : "bob";
        const result = await clients[name].callTool({ name: toolName ?? "", arguments: { number } });
        return [name, saidBy(result)] as const;
      });
      const answers = await Promise.all(calls);
      expect(answers.map(([name, { number, caller }]) => [name, number, caller])).toEqual(
        answers.map(([name], number) => [name, number, name]),
      );
      const upstream = received.filter((request) => request.port === port);
      const seen = new Set(upstream.map(({ headers }) => headers.authorization));
      expect([...seen].toSorted()).toEqual(["ann", "bob", "nobody"].map((name) => `Bearer upstream-token-of-${name}`));
      expect(JSON.stringify([upstream, answers])).not.toContain("client-token");
    },
  );

  it("are those of whoever makes the call, and their absence is told without sending anything", async () => {
    const { arsenal, port } = await started(era);
    const call = { toolName: "github.whoami", arguments: { number: 1 } };
    const local = await arsenal.execute(call);
    const before = received.filter((request) => request.port === port).length;
    const carl = await arsenal.execute({ ...call, principal: principal("carl") });
    const climbing = await arsenal.execute({ ...call, principal: principal("_default") });
    expect([saidBy(local.result).caller, carl.error, climbing.status]).toEqual([
      "local",
      {
        code: "CONFIG_INVALID",
        message:
          'headers.Authorization of "github" refers to env:GITHUB_{principal} for "carl": the variable is not set. Set GITHUB_{principal}.',
        field: "headers.Authorization",
        fix: "Set GITHUB_{principal}.",
        beforeSend: true,
      },
      "failure",
    ]);
    expect(received.filter((request) => request.port === port)).toHaveLength(before);
  });
});

/** A server on WebSockets whose one tool says whose credentials its connection was opened with. */
async function startWebSocketServer(): Promise<string> {
  const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0, handleProtocols: () => "mcp" });
  open.push(() => new Promise((resolve) => sockets.close(resolve)));
  sockets.on("connection", (socket, { headers }) => {
    const transport: Transport = {
      start: async () => {},
      send: async (message) => socket.send(JSON.stringify(message)),
      close: async () => socket.close(),
    };
    socket.on("message", (data) => transport.onmessage?.(JSON.parse(String(data)) as JSONRPCMessage));
    const server = new McpServer({ name: "who", version: "1.0.0" });
    const inputSchema = z.object({ number: z.number() });
    server.registerTool("whoami", { description: "Says who calls.", inputSchema }, ({ number }) => ({
      content: [{ type: "text", text: JSON.stringify({ number, caller: callerOf(headers.authorization) }) }],
    }));
    void server.connect(transport);
  });
  await once(sockets, "listening");
  return `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
}

describe("credentials for each caller, on WebSockets", () => {
  it("are each one's own, on a connection of their own", async () => {
    const url = await startWebSocketServer();
    const arsenal = new ToolArsenal({ telemetry: { enabled: false }, environment: ENVIRONMENT });
    open.push(() => arsenal.close());
    const headers = { Authorization: "Bearer ${secret:env:GITHUB_{principal}}" };
    await arsenal.addMcpServer({ name: "github", transport: { kind: "websocket", url, headers } });
    const ask = async (name: string, number: number) => {
      const call = { toolName: "github.whoami", arguments: { number }, principal: principal(name) };
      return saidBy((await arsenal.execute(call)).result);
    };
    const names = Array.from({ length: 20 }, (_, number) => (number % 2 === 0 ? "ann" : "bob"));
    expect(await Promise.all(names.map(ask))).toEqual(names.map((name, number) => ({ number, caller: name })));
  });
});

describe("a secret that is changed", () => {
  it("is used in its new form from the next request on", async () => {
    const environment: Record<string, string> = { TOKEN: "Bearer upstream-token-of-ann" };
    const upstream = await listenAs("legacy", build);
    open.push(() => upstream.close());
    const arsenal = new ToolArsenal({ telemetry: { enabled: false }, environment });
    open.push(() => arsenal.close());
    const transport = { kind: "http", url: upstream.url, headers: { Authorization: "env:TOKEN" } } as const;
    await arsenal.addMcpServer({ name: "one", transport });
    const ask = async (): Promise<string> => {
      const { result } = await arsenal.execute({ toolName: "one.whoami", arguments: { number: 1 } });
      return saidBy(result).caller;
    };
    const first = await ask();
    environment["TOKEN"] = "Bearer upstream-token-of-bob";
    expect([first, await ask()]).toEqual(["ann", "bob"]);
  });
});
