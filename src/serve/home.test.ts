import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLegacyServer } from "../../test/mcp/upstream-server.ts";
import { bearerToken } from "../adapters/identity/bearer-token.ts";
import { internalsOf, ToolArsenal } from "../arsenal.ts";
import type { ServeOptions } from "./serve-arsenal.ts";
import { homePage } from "./home.ts";

const PATHS = ["/mcp", "/mcp/upstreams/", "/sse", "/api/v1/approvals", "/healthz", "/readyz"];

async function serve(options: ServeOptions = {}): Promise<{ readonly url: string; readonly arsenal: ToolArsenal }> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, security: { deny: ["files.echo"] } });
  onTestFinished(() => arsenal.close());
  const server = await startLegacyServer();
  onTestFinished(() => server.close());
  await arsenal.addMcpServer({ name: "files", transport: { kind: "http", url: server.url } });
  const served = await arsenal.serve({ port: 0, ...options });
  onTestFinished(() => served.close());
  return { url: served.url ?? "", arsenal };
}

/** An address at which nothing listens. */
async function nowhere(): Promise<string> {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, "close");
  return `http://127.0.0.1:${port}/mcp`;
}

describe("the page at /", () => {
  it("says what this is, what it answers at, and how each server fares, as the caller may see it", async () => {
    const { url, arsenal } = await serve();
    const transport = { kind: "http", url: await nowhere() } as const;
    await arsenal.addMcpServer({ name: "gone", transport }, { patient: true });
    await internalsOf(arsenal).upstreamsAttempted();
    const response = await fetch(`${url}/`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const page = await response.text();
    expect(page).toContain("<h1>ToolArsenal</h1>");
    for (const path of PATHS) expect(page).toContain(path);
    expect(page).toContain(`${url}/mcp<`);
    // One of its five tools is denied.
    expect(page).toMatch(/files<\/b> connected, 4 tools/);
    expect(page).toMatch(/gone<\/b> failed: [^<]*cannot be connected/);
  });

  it("links to the pages that a browser can show", async () => {
    const { url } = await serve();
    const page = await (await fetch(url)).text();
    const links = [...page.matchAll(/<a href="([^"]*)">/g)].map(([, path]) => path);
    expect(links).toEqual(["/openapi.json", "/docs", "/registry/v0.1/servers", "/metrics", "/ui"]);
  });

  it("names no server where callers need a token", async () => {
    const token = "a-token-of-some-length";
    const { url } = await serve({ identity: bearerToken({ tokens: [token] }) });
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      const page = await (await fetch(url, { headers })).text();
      expect(page).toContain("1 of 1 server connected.");
      expect(page).not.toContain("files");
      expect(page).not.toContain(url);
    }
  });

  it("loads nothing, runs nothing and is framed by nobody", async () => {
    const { url } = await serve();
    const response = await fetch(url);
    const page = await response.text();
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^style-src 'sha256-[A-Za-z0-9+/]{43}='$/),
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    const [, style = ""] = /<style>([^]*?)<\/style>/.exec(page) ?? [];
    expect(policy).toContain(createHash("sha256").update(style).digest("base64"));
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\sstyle=|\son\w+=|url\(|@import/i);
    expect(style).toContain("prefers-color-scheme: dark");
    expect(page).toContain('name="viewport"');
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it("answers HEAD without a body, refuses other methods, and is not the page of other paths", async () => {
    const { url } = await serve();
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const post = await fetch(url, { method: "POST", body: "{}" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    expect((await fetch(`${url}/?x=1`)).status).toBe(200);
  });

  it("shows whatever servers say as text", () => {
    const evil = `"><script>alert('&')</script>\u202e`;
    const page = homePage({
      base: evil,
      addresses: [["/mcp", evil]],
      servers: [{ name: evil, state: "failed", tools: 1, problem: evil }],
      otherTools: 0,
    });
    expect(page).not.toContain("<script>");
    expect(page).not.toContain("\u202e");
    expect(page).toContain("&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;");
  });
});
