import { describe, expect, it } from "vitest";
import type { McpServerConfig } from "../config.ts";
import { readServer } from "../../adapters/sources/mcp/read-settings.ts";
import type { WrittenMcpServer } from "../../adapters/sources/mcp/settings.ts";
import { configuredSources } from "./configured-sources.ts";
import { resolveConfig } from "./resolve-config.ts";

/** The servers of a configuration, with their transports spelled out. */
async function from(...servers: readonly McpServerConfig[]) {
  const { sources, problems } = await configuredSources(resolveConfig({ mcp: { servers } }));
  const read = sources.map(({ settings: { type: _type, ...settings } }) => readServer(settings as WrittenMcpServer));
  return { servers: read, sources, problems };
}

const SHOWN_ARGUMENTS = "refers to a secret, but every user of this machine can read a program's arguments";

describe("configured MCP servers", () => {
  it.each<[Partial<McpServerConfig>, object]>([
    [
      { command: ["npx", "-y"], args: ["pkg"], env: { A: "b" }, cwd: "/srv" },
      { kind: "stdio", command: "npx", args: ["-y", "pkg"], env: { A: "b" }, cwd: "/srv" },
    ],
    [{ command: "node" }, { kind: "stdio", command: "node" }],
    [
      { command: "npx", args: ["file:/srv/package"], env: { KEY: "env:KEY" } },
      { kind: "stdio", command: "npx", args: ["file:/srv/package"], env: { KEY: "env:KEY" } },
    ],
    [{ url: "https://x/mcp" }, { kind: "http", url: "https://x/mcp" }],
    [{ endpoint: "http://x" }, { kind: "http", url: "http://x" }],
    [
      { type: "streamable-http", url: "http://x" },
      { kind: "http", url: "http://x" },
    ],
    [
      { type: "sse", url: "http://x", headers: { A: "b" } },
      { kind: "sse", url: "http://x", headers: { A: "b" } },
    ],
    [{ url: "ws://x" }, { kind: "websocket", url: "ws://x" }],
    [
      { type: "ws", url: "wss://x" },
      { kind: "websocket", url: "wss://x" },
    ],
    [
      { url: "http://x", oauth: { clientId: "id" } },
      { kind: "http", url: "http://x", oauth: { clientId: "id" } },
    ],
    [
      { type: "http", command: "ignored", url: "http://x" },
      { kind: "http", url: "http://x" },
    ],
  ])("are reached as they say: %j", async (entry, transport) => {
    expect(await from({ name: "it", ...entry })).toMatchObject({ servers: [{ name: "it", transport }], problems: [] });
  });

  it("have a name that fits a namespace, and keep their own", async () => {
    const { servers, sources } = await from({ name: "@owner/My Server", command: "node", namespace: "My Tools" });
    expect(servers).toMatchObject([{ name: "owner.my-server", namespace: "my-tools" }]);
    expect(sources).toMatchObject([{ name: "owner.my-server", writtenAs: "@owner/My Server" }]);
  });

  it("have their limits", async () => {
    const limits = { timeoutMs: 1, connectTimeoutMs: 2, maxConcurrent: 3, maxConnections: 4 };
    expect((await from({ name: "it", command: "node", ...limits })).servers).toMatchObject([limits]);
  });

  it("are believed what they say of their tools only where told so", async () => {
    expect((await from({ name: "it", command: "node" })).servers[0]).not.toHaveProperty("trustAnnotations");
    expect((await from({ name: "it", command: "node", trustAnnotations: true })).servers).toMatchObject([
      { trustAnnotations: true },
    ]);
  });

  it("that are disabled are not there", async () => {
    expect(await from({ name: "it", disabled: true })).toMatchObject({ servers: [], problems: [] });
  });

  it.each<[Partial<McpServerConfig>, string, string]>([
    [{}, "command", "is missing, and so is url"],
    [{ type: "stdio", url: "http://x" }, "command", "is missing"],
    [{ type: "http", command: "node" }, "url", "is missing, and type is http"],
    [{ url: "example.com/mcp" }, "url", 'is "example.com/mcp", which is not an address of HTTP'],
    [{ url: "file:///etc" }, "url", 'is "file:///etc", which is not an address of HTTP'],
    [{ url: "htp://me:secret@x/y?key=secret" }, "url", 'is "htp://…@x/y?…", which is not an address of HTTP'],
    [{ type: "websocket", url: "http://x" }, "url", 'is "http://x", which is not an address of a WebSocket'],
    [{ command: "node", args: ["--key", "env:KEY"] }, "args", SHOWN_ARGUMENTS],
    [{ command: ["node", "keychain:a/b"] }, "args", SHOWN_ARGUMENTS],
    [{ command: "node", args: ["--key=${secret:file:/run/key}"] }, "args", SHOWN_ARGUMENTS],
    [
      { command: "node", env: { KEY: "env:KEY_{principal}" } },
      "env.KEY",
      "depends on the caller, but one process serves all callers",
    ],
    [{ url: "https://x/mcp?key=${secret:env:KEY}" }, "url", "refers to a secret, but addresses are shown and logged"],
    [
      { url: "https://x/mcp", oauth: { clientSecret: "env:KEY_{tenant}" } },
      "oauth.client_secret",
      "depends on the caller, but one login serves all callers",
    ],
  ])("that are bad are reported and the others there: %j", async (entry, field, message) => {
    const { sources, problems } = await from({ name: "bad", ...entry }, { name: "good", command: "node" });
    expect(sources.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toMatchObject([{ server: "bad", field, message, fix: expect.any(String) as string }]);
  });

  it("that read the same are told apart: the later one is reported", async () => {
    const { sources, problems } = await from({ name: "my-files", command: "a" }, { name: "My Files", command: "b" });
    expect(sources).toMatchObject([{ writtenAs: "my-files" }]);
    expect(problems).toMatchObject([
      {
        server: "My Files",
        field: "name",
        message:
          'is "My Files", and another source already has that name (as "my-files", which has the same normalised form)',
      },
    ]);
  });
});

describe("sources", () => {
  it("are named by their type, whichever section has them, in one list", async () => {
    const config = resolveConfig({
      sources: [
        { type: "openapi", name: "Pets", document: { openapi: "3.1.0" }, baseUrl: "http://x" },
        { type: "mcp", name: "files", command: "node" },
        { type: "mcp", name: "web", transport: { kind: "http", url: "http://x" } },
        { type: "mcp", name: "off", command: "node", disabled: true },
      ],
      mcp: { servers: [{ name: "old", type: "sse", url: "http://x" }] },
      a2a: { agents: [{ name: "weather", url: "http://x" }] },
      scripts: [{ paths: ["./tools"] }],
      builtins: { tools: ["http-get"] },
    });
    const { sources, problems } = await configuredSources(config);
    expect(problems).toEqual([]);
    expect(sources.map(({ name, settings: { type } }) => [type, name])).toEqual([
      ["openapi", "pets"],
      ["mcp", "files"],
      ["mcp", "web"],
      ["mcp", "old"],
      ["a2a", "weather"],
      ["scripts", "scripts"],
      ["builtin", "builtin"],
    ]);
    expect(sources[3]?.settings).toEqual({ type: "mcp", transport: "sse", name: "old", url: "http://x" });
  });

  it.each([
    [{ type: "opnapi", name: "x" }, "sources.0.type", 'Did you mean "openapi"?'],
    [{ name: "x" }, "sources.0.type", "Set sources.0.type to one of mcp, "],
    [{ type: "openapi", name: "x" }, "sources.0.document", "Set sources.0.document to "],
    [{ type: "a2a", name: "x", url: "http://x", documnt: 1 }, "sources.0.documnt", "Known keys here: "],
    [{ type: "mcp", name: "x", command: "a", maxTools: 0 }, "sources.0.maxTools", "Set sources.0.maxTools to "],
  ])("are checked by the settings of their type: %j", (entry, field, fix) => {
    const details = { field, fix: expect.stringContaining(fix) as string };
    expect(() => resolveConfig({ sources: [entry as never] })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", details: expect.objectContaining(details) as object }) as Error,
    );
  });
});
