import { AgentCard } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import {
  Client,
  ClientCredentialsProvider,
  discoverOAuthProtectedResourceMetadata,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { jwtIdentity } from "../../src/adapters/identity/index.ts";
import { createClient } from "../../src/client/index.ts";
import { CAPABILITIES, ToolArsenal } from "../../src/index.ts";
import type { ServeOptions } from "../../src/serve/serve-arsenal.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";
import { A2A_WAYS, asking } from "../serve/a2a-clients.ts";
import { type PathProxy, PROXY_WAYS, startPathProxy } from "../serve/path-proxy.ts";
import { openGateway } from "../serve/rest-gateway.ts";
import { startOidcServer } from "./oidc-server.ts";

describe.each(PROXY_WAYS)("a gateway below /tools, behind a proxy that $way", ({ strips }) => {
  /** A gateway behind the proxy. At the end of the test, nothing was requested outside its path. */
  async function open(options: ServeOptions = {}): Promise<PathProxy & { readonly arsenal: ToolArsenal }> {
    const proxy = await startPathProxy({ strips });
    const { url, arsenal } = await openGateway(
      { publicUrl: proxy.url, mode: "static", ...options },
      { toolsets: [{ name: "invoices", description: "Invoices.", include: { namespaces: ["billing"] } }] },
    );
    proxy.target = url;
    onTestFinished(() => expect(proxy.refused).toEqual([]));
    return Object.assign(proxy, { arsenal });
  }

  async function connect(
    transport: StreamableHTTPClientTransport | SSEClientTransport,
    mode: "auto" | "legacy" = "auto",
  ): Promise<Client> {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(transport);
    onTestFinished(() => client.close());
    return client;
  }

  const json = async (url: string): Promise<Record<string, unknown>> => (await fetch(url)).json() as never;

  it("serves MCP clients of both eras at every plane, and those of the older transport", async () => {
    const { url, arsenal } = await open();
    const server = await startLegacyServer();
    onTestFinished(() => server.close());
    await arsenal.addMcpServer({ name: "notes", transport: { kind: "http", url: server.url } });
    for (const mode of ["auto", "legacy"] as const)
      for (const [path, tool] of [
        ["/mcp", "billing-get_invoice"],
        ["/mcp/toolsets/invoices", "billing-get_invoice"],
        ["/mcp/upstreams/notes", "echo"],
      ] as const) {
        const client = await connect(new StreamableHTTPClientTransport(new URL(url + path)), mode);
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain(tool);
        const called = await client.callTool({ name: tool, arguments: { invoiceId: "i-1", text: "i-1" } });
        expect(JSON.stringify(called.content)).toContain("i-1");
      }
    const older = await connect(new SSEClientTransport(new URL(`${url}/sse`)), "legacy");
    const called = await older.callTool({ name: "billing-get_invoice", arguments: { invoiceId: "i-2" } });
    expect(JSON.stringify(called.content)).toContain("i-2");
  });

  it("serves REST by the typed client, its document and the addresses that it answers with", async () => {
    const { url } = await open();
    const client = createClient({ url });
    onTestFinished(() => client.close());
    const heard = Promise.withResolvers<string>();
    const following = client.subscribe(({ name }) => heard.resolve(name), { names: ["call-finished"] });
    onTestFinished(following);
    await following.connected;
    const arguments_ = { invoiceId: "i-1" };
    expect(await client.execute({ toolName: "billing.get_invoice", arguments: arguments_ })).toMatchObject({
      result: { found: "i-1" },
    });
    expect(await heard.promise).toBe("call-finished");

    const { servers, paths } = await json(`${url}/openapi.json`);
    expect(servers).toEqual([{ url }]);
    const listed = await json(`${url}${Object.keys(paths as object).find((path) => path.endsWith("/tools"))}`);
    expect(listed["tools"]).toHaveLength(5);

    const draft = { name: "note", namespace: "desk", description: "Keeps a note." };
    const added = await fetch(`${url}/api/v1/tools`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(draft),
    });
    const location = added.headers.get("location") ?? "";
    expect(location).toBe("/tools/api/v1/tools/desk.note");
    expect(await json(new URL(location, url).href)).toMatchObject({ name: "note" });
  });

  it("links every page from the one at its address, and answers whether it is up", async () => {
    const { url } = await open();
    expect(await json(`${url}/healthz`)).toEqual({ status: "ok" });
    for (const home of [url, `${url}/`, `${url}?from=elsewhere`]) {
      const page = await (await fetch(home)).text();
      expect(page).toContain(`<code>${url}/mcp</code>`);
      const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, link = ""]) => link);
      expect(links).toContain("/tools/docs");
      for (const link of links) expect([link, (await fetch(new URL(link, home))).status]).not.toEqual([link, 404]);
    }
  });

  it("gives agents a card whose addresses work, also as a source of another gateway", async () => {
    const { url } = await open();
    const shown = AgentCard.fromJSON(await json(`${url}/.well-known/agent-card.json`));
    expect(new Set(shown.supportedInterfaces.map((each) => each.url))).toEqual(
      new Set([`${url}/a2a`, `${url}/a2a/v1`]),
    );
    const agent = await new ClientFactory().createFromAgentCard(shown);
    const message = () => asking({ tool: "billing.get_invoice", arguments: { invoiceId: "i-3" } });
    expect(JSON.stringify(await agent.sendMessage(message()))).toContain("i-3");
    for (const way of A2A_WAYS) {
      const transport = await way.connect(url);
      expect(JSON.stringify(await transport.sendMessage(message()))).toContain("i-3");
    }

    const other = new ToolArsenal({ telemetry: { enabled: false } });
    onTestFinished(() => other.close());
    await other.addA2aAgent({ name: "shop", url });
    const ids = (await other.listTools()).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
  });

  it("shows where tokens come from, below its path and where RFC 9728 has it, and accepts them", async () => {
    const oidc = await startOidcServer();
    onTestFinished(() => oidc.close());
    const identity = jwtIdentity({ issuer: oidc.issuer, scopes: ["tools:use"], capabilities: CAPABILITIES });
    const { url, origin } = await open({ identity });
    const refused = await fetch(`${url}/mcp`, { method: "POST" });
    const named = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1] ?? "";
    expect([refused.status, named]).toEqual([401, `${url}/.well-known/oauth-protected-resource/mcp`]);
    const inserted = `${origin}/.well-known/oauth-protected-resource/tools`;
    for (const [address, resource] of [
      [named, `${url}/mcp`],
      [`${inserted}/mcp`, `${url}/mcp`],
      [`${inserted}/mcp/toolsets/invoices`, `${url}/mcp/toolsets/invoices`],
      [inserted, url],
    ] as const)
      expect(await json(address)).toMatchObject({ resource, authorization_servers: [oidc.issuer] });
    expect((await fetch(`${inserted}/healthz`)).status).toBe(404);
    expect((await discoverOAuthProtectedResourceMetadata(`${url}/mcp`)).resource).toBe(`${url}/mcp`);

    const { id: clientId, secret: clientSecret } = oidc.client;
    const authProvider = new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: oidc.issuer });
    const client = await connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("billing-get_invoice");
    for (const [resource, isAccepted] of [
      [url, true],
      [`${url}/api/v1`, true],
      [origin + "/toolsx", false],
    ] as const) {
      const token = await oidc.accessToken(resource);
      const answer = await fetch(`${url}/api/v1/tools`, { headers: { authorization: `Bearer ${token}` } });
      expect([resource, answer.ok]).toEqual([resource, isAccepted]);
    }
  });
});
