import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { builtinSource } from "../../src/adapters/sources/builtin/builtin.ts";
import { mcpSource } from "../../src/adapters/sources/mcp/mcp.ts";
import { openapiSource } from "../../src/adapters/sources/openapi/openapi.ts";
import { isolateSandbox } from "../../src/adapters/sandboxes/isolate/isolate.ts";
import { bubblewrapSandbox } from "../../src/adapters/sandboxes/bubblewrap/bubblewrap.ts";
import { withinDomains } from "../../src/guard/egress/domain-bound.ts";
import { createEgress } from "../../src/guard/egress/egress.ts";
import { ToolArsenal } from "../../src/index.ts";
import type { Source } from "../../src/register/source.port.ts";
import type { HandlerContext } from "../../src/tool/handler.ts";
import { startLegacyServer, startModernServer } from "../mcp/upstream-server.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const { signal } = new AbortController();

/** Connects a source and returns what calls its first tool. */
async function firstTool(source: Source): Promise<(args: Record<string, unknown>) => Promise<unknown>> {
  ends.push(() => source.disconnect());
  await source.connect({ signal });
  const [tool] = await source.list({ signal });
  const context = { signal } as unknown as HandlerContext;
  return async (args) => tool?.handler(args, context);
}

/** A server that answers a token request and everything else, and notes what it was asked for. */
async function startApi(): Promise<{ readonly port: number; readonly paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(`${request.headers.host?.split(":")[0]}${request.url}`);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ access_token: "token-of-the-job", token_type: "Bearer", expires_in: 3600 }));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, paths };
}

const DENIED = { code: "PERMISSION_DENIED", message: expect.stringContaining("domains that this call may reach") };

describe("a call that may reach some domains only", () => {
  it.each([
    ["legacy", startLegacyServer],
    ["modern", startModernServer],
  ] as const)("reaches a %s MCP server over HTTP where that is one of them", async (_era, start) => {
    const server = await start();
    ends.push(() => server.close());
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    await arsenal.addMcpServer({ name: "sample", transport: { kind: "http", url: server.url } });
    const echo = (text: string): ReturnType<ToolArsenal["execute"]> =>
      arsenal.execute({ toolName: "sample.echo", arguments: { text } });
    expect((await echo("a")).status).toBe("success");
    const before = server.requests.length;
    for (const domains of [["example.com"], []])
      expect(await withinDomains(domains, () => echo("b"))).toMatchObject({
        status: "permission_denied",
        error: DENIED,
      });
    expect(server.requests.length).toBe(before);
    expect(await withinDomains(["127.0.0.1"], () => echo("c"))).toMatchObject({ status: "success" });
  });

  it("reaches an API where it is one of them, with the token that all calls share", async () => {
    const { port, paths } = await startApi();
    const flows = { clientCredentials: { tokenUrl: "/token", scopes: {} } };
    const document = {
      openapi: "3.1.0",
      info: { title: "An API", version: "1" },
      paths: { "/x": { get: { operationId: "x", responses: {}, security: [{ auth: [] }] } } },
      components: { securitySchemes: { auth: { type: "oauth2", flows } } },
    };
    const auth = {
      clientId: "job",
      clientSecret: () => "secret-of-the-job",
      tokenUrl: `http://localhost:${port}/token`,
    };
    const settings = { name: "api", document, server: `http://127.0.0.1:${port}`, credentials: { auth } };
    const resolve = (
      _host: string,
      answer: (error: null, found: { address: string; family: number }[]) => void,
    ): void => answer(null, [{ address: "127.0.0.1", family: 4 }]);
    const egress = createEgress({}, { resolve });
    ends.push(() => egress.close());
    const call = await firstTool(openapiSource(settings, { egress }));
    await expect(withinDomains(["localhost"], () => call({}))).rejects.toMatchObject(DENIED);
    expect(paths).toEqual([]);
    await withinDomains(["127.0.0.1"], () => call({}));
    expect(paths).toEqual(["localhost/token", "127.0.0.1/x"]);
  });

  it("fetches an address where it is one of them", async () => {
    const { port, paths } = await startApi();
    const egress = createEgress({ allowPrivate: true });
    ends.push(() => egress.close());
    const get = await firstTool(builtinSource({ tools: ["http-get"] }, { egress }));
    const url = `http://127.0.0.1:${port}/page`;
    await expect(withinDomains(["example.com"], () => get({ url }))).rejects.toMatchObject(DENIED);
    expect(paths).toEqual([]);
    expect(await withinDomains(["127.0.0.1"], () => get({ url }))).toMatchObject({ status: 200 });
  });
});

describe("a source", () => {
  it("says whether every request of its tools can be bound", () => {
    const bound = ({ guardsEgress }: Source): boolean | undefined => guardsEgress;
    const server = (transport: Parameters<typeof mcpSource>[0]["transport"]): Source => {
      const source = mcpSource({ name: "sample", transport });
      ends.push(() => source.disconnect());
      return source;
    };
    expect(bound(openapiSource({ name: "api", document: {} }))).toBe(true);
    expect(bound(server({ kind: "http", url: "http://127.0.0.1:9/" }))).toBe(true);
    expect(bound(server({ kind: "sse", url: "http://127.0.0.1:9/" }))).toBe(true);
    expect(bound(server({ kind: "websocket", url: "ws://127.0.0.1:9/" }))).toBe(true);
    expect(bound(server({ kind: "stdio", command: "no-such-program-anywhere" }))).toBe(false);
    expect(bound(builtinSource())).toBe(true);
    expect(bound(builtinSource({ code: { sandbox: isolateSandbox() } }))).toBe(true);
    expect(bound(builtinSource({ code: { sandbox: bubblewrapSandbox() } }))).toBe(false);
    expect(bound(builtinSource({ tools: ["http-get"], code: { sandbox: bubblewrapSandbox() } }))).toBe(true);
  });
});

describe("a configuration", () => {
  it("with allowed domains still connects the MCP servers that it names", async () => {
    const server = await startModernServer();
    ends.push(() => server.close());
    const security = { allowedDomains: ["api.example.com"] };
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, security });
    expect(await arsenal.addMcpServer({ name: "sample", transport: { kind: "http", url: server.url } })).toBe(5);
    const { status } = await arsenal.execute({ toolName: "sample.echo", arguments: { text: "a" } });
    expect(status).toBe("success");
  });

  it.each([
    ["http", "http://localhost:9/mcp"],
    ["sse", "http://localhost:9/sse"],
    ["websocket", "ws://localhost:9/mcp"],
  ] as const)("holds MCP servers over %s to its pins", async (kind, url) => {
    const security = { certificatePins: { localhost: `sha256/${"A".repeat(43)}=` } };
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, security });
    await expect(arsenal.addMcpServer({ name: "sample", transport: { kind, url } })).rejects.toThrow(
      /its certificate is pinned, but plain http has none/,
    );
  });

  it("with a pin that is none is refused at the start", () => {
    const security = { certificatePins: { "api.example.com": "sha256/nonsense" } };
    expect(() => new ToolArsenal({ telemetry: { enabled: false }, security })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});
