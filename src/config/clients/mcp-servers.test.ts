import { describe, expect, it } from "vitest";
import type { McpServerConfig } from "../config.ts";
import { toMcpServers } from "./mcp-servers.ts";
import { resolveConfig } from "../load/resolve-config.ts";

const from = (...servers: readonly McpServerConfig[]): ReturnType<typeof toMcpServers> =>
  toMcpServers(resolveConfig({ mcp: { servers } }));

const SHOWN_ARGUMENTS = "refers to a secret, and everybody on this machine can read a program's arguments";

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
  ])("are reached as they say: %j", (entry, transport) => {
    expect(from({ name: "it", ...entry })).toEqual({
      servers: [{ name: "it", writtenAs: "it", transport }],
      problems: [],
    });
  });

  it("have a name that fits a namespace, and keep their own", () => {
    const { servers } = from({ name: "@owner/My Server", command: "node", namespace: "My Tools" });
    expect(servers).toMatchObject([{ name: "owner.my-server", writtenAs: "@owner/My Server", namespace: "my-tools" }]);
  });

  it("have their limits", () => {
    const limits = { timeoutMs: 1, connectTimeoutMs: 2, maxConcurrent: 3 };
    expect(from({ name: "it", command: "node", ...limits }).servers).toMatchObject([limits]);
  });

  it("are believed what they say of their tools only where told so", () => {
    expect(from({ name: "it", command: "node" }).servers[0]).not.toHaveProperty("trustAnnotations");
    expect(from({ name: "it", command: "node", trustAnnotations: true }).servers).toMatchObject([
      { trustAnnotations: true },
    ]);
  });

  it("that are disabled are not there", () => {
    expect(from({ name: "it", disabled: true })).toEqual({ servers: [], problems: [] });
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
      "depends on the caller, and one process serves all of them",
    ],
    [{ url: "https://x/mcp?key=${secret:env:KEY}" }, "url", "refers to a secret, and addresses are shown and logged"],
    [
      { url: "https://x/mcp", oauth: { clientSecret: "env:KEY_{tenant}" } },
      "oauth.client_secret",
      "depends on the caller, and one login serves all of them",
    ],
  ])("that are bad are reported and the others there: %j", (entry, field, message) => {
    const { servers, problems } = from({ name: "bad", ...entry }, { name: "good", command: "node" });
    expect(servers.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toMatchObject([{ server: "bad", field, message, fix: expect.any(String) as string }]);
  });

  it("that read the same are told apart: the later one is reported", () => {
    const { servers, problems } = from({ name: "my-files", command: "a" }, { name: "My Files", command: "b" });
    expect(servers).toMatchObject([{ writtenAs: "my-files" }]);
    expect(problems).toMatchObject([
      {
        server: "My Files",
        field: "name",
        message: 'is "My Files", and another MCP server already has that name (as "my-files", which reads the same)',
      },
    ]);
  });
});
