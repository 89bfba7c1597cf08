import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClientServers, readClientConfig } from "./client-config.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const read = (block: Record<string, unknown>, environment: Record<string, string> = {}): Promise<ClientServers> =>
  readClientConfig(block, { environment, folder });

/** What one entry becomes, or why it does not. */
async function one(entry: unknown, environment: Record<string, string> = {}): Promise<unknown> {
  const { servers, problems } = await read({ mcpServers: { it: entry } }, environment);
  return servers[0] ?? problems[0];
}

describe("the servers of an MCP client", () => {
  it("are read from Claude Desktop as they are", async () => {
    const { servers, problems, notes } = await read({
      mcpServers: {
        filesystem: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/data"] },
        github: { command: "docker", args: ["run", "-i"], env: { GITHUB_TOKEN: "ghp_1", RETRIES: 3 } },
      },
    });
    expect([problems, notes]).toEqual([[], []]);
    expect(servers).toEqual([
      { name: "filesystem", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/data"] },
      { name: "github", command: "docker", args: ["run", "-i"], env: { GITHUB_TOKEN: "ghp_1", RETRIES: "3" } },
    ]);
  });

  it.each([
    [
      { url: "https://x/mcp", headers: { Authorization: "Bearer ${env:KEY}" } },
      { url: "https://x/mcp", headers: { Authorization: "Bearer k" } },
    ],
    [{ serverUrl: "https://x/mcp" }, { url: "https://x/mcp" }],
    [{ httpUrl: "https://x/mcp" }, { url: "https://x/mcp" }],
    [
      { type: "streamable-http", url: "https://x" },
      { type: "http", url: "https://x" },
    ],
    [
      { transport: "streamable_http", url: "https://x" },
      { type: "http", url: "https://x" },
    ],
    [
      { type: "ws", url: "wss://x" },
      { type: "websocket", url: "wss://x" },
    ],
    [
      { type: "sse", url: "https://x/${KEY}" },
      { type: "sse", url: "https://x/k" },
    ],
    [
      { command: "node", timeout: 60 },
      { command: "node", timeoutMs: 60_000 },
    ],
    [
      { command: "node", timeout: 600_000 },
      { command: "node", timeoutMs: 600_000 },
    ],
    [
      { command: "${NONE:-node}", args: ["$${KEY}"] },
      { command: "node", args: ["${KEY}"] },
    ],
    [
      { url: "https://x", auth: { CLIENT_ID: "id", CLIENT_SECRET: "${KEY}", scopes: ["a", "b"] } },
      { url: "https://x", oauth: { clientId: "id", clientSecret: "k", scope: "a b" } },
    ],
    [
      { url: "https://x", oauth: { clientId: "id", grant: "magic", callbackPort: 8765 } },
      { url: "https://x", oauth: { clientId: "id", redirectPort: 8765 } },
    ],
  ])("may be spelled %j", async (entry, expected) => {
    expect(await one(entry, { KEY: "k" })).toEqual({ name: "it", ...expected });
  });

  it("of VS Code take their inputs from the environment", async () => {
    const block = {
      inputs: [
        { type: "promptString", id: "github-token", description: "GitHub token", password: true },
        { type: "pickString", id: "region", options: ["eu", "us"], default: "eu" },
      ],
      servers: {
        github: { type: "http", url: "https://${input:region}.x", headers: { A: "Bearer ${input:github-token}" } },
        local: { type: "stdio", command: "node", args: ["${workspaceFolder}/server.js", "${userHome}"] },
      },
    };
    const { servers } = await read(block, { GITHUB_TOKEN: "t", HOME: "/home/me" });
    expect(servers).toEqual([
      { name: "github", type: "http", url: "https://eu.x", headers: { A: "Bearer t" } },
      { name: "local", type: "stdio", command: "node", args: [`${folder}/server.js`, "/home/me"] },
    ]);
    const { servers: others, problems } = await read(block, { HOME: "/home/me" });
    expect(others.map(({ name }) => name)).toEqual(["local"]);
    expect(problems).toEqual([
      {
        server: "github",
        field: "headers.A",
        value: "${input:github-token}",
        message: 'the input "github-token" (GitHub token) has no value',
        fix: "Set the environment variable GITHUB_TOKEN.",
      },
    ]);
  });

  it("keep references to secrets as they are", async () => {
    const env = { A: "${secret:env:TOKEN} ${env:HOME}", B: "env:TOKEN", C: "$${x} ${secret:file:/{principal}/k}" };
    expect(await one({ command: "node", env }, { HOME: "/home/me" })).toMatchObject({
      env: { A: "${secret:env:TOKEN} /home/me", B: "env:TOKEN", C: "${x} ${secret:file:/{principal}/k}" },
    });
  });

  it("take an environment file beneath what the entry says, and a folder from where the file lies", async () => {
    await writeFile(join(folder, "server.env"), "# secrets\nTOKEN='from file'\nLEVEL=info\n");
    expect(
      await one({ command: "node", envFile: "${workspaceFolder}/server.env", env: { LEVEL: "debug" }, cwd: "sub" }),
    ).toEqual({
      name: "it",
      command: "node",
      env: { TOKEN: "from file", LEVEL: "debug" },
      cwd: resolve(folder, "sub"),
    });
    expect(await one({ command: "node", envFile: "none.env" })).toMatchObject({ field: "envFile", value: "none.env" });
  });

  it("take several environment files, which fill references anywhere in the entry before the environment does", async () => {
    await writeFile(join(folder, "one.env"), "TOKEN=one\nSHARED=one\nEMPTY=\n");
    await writeFile(join(folder, "two.env"), "SHARED=two\n");
    const entry = {
      url: "https://h/${SHARED}",
      envFile: ["one.env", "two.env"],
      headers: { Authorization: "Bearer ${TOKEN}", "X-Other": "${EMPTY}", "X-Input": "${input:token}" },
    };
    expect(await one(entry, { TOKEN: "environment", EMPTY: "environment" })).toMatchObject({
      url: "https://h/two",
      headers: { Authorization: "Bearer one", "X-Other": "environment", "X-Input": "one" },
    });
    expect(await one({ url: "https://h", envFile: [3] })).toMatchObject({ field: "envFile", value: 3 });
  });

  it("keep what is unknown or decided elsewhere out, with a note", async () => {
    const { servers, problems, notes } = await read({
      mcpServers: {
        a: { command: "node", alwaysAllow: ["x"], autoApprove: [], gallery: true, __proto__: null },
        b: { command: "node", disabled: true },
      },
    });
    expect([servers, problems]).toEqual([[{ name: "a", command: "node" }], []]);
    expect(notes).toEqual([
      { server: "a", message: "left out gallery, which ToolArsenal does not know" },
      { server: "a", message: "left out alwaysAllow, autoApprove: configure permissions under security:" },
      { server: "b", message: "is disabled" },
    ]);
  });

  it.each([
    [null, "entry", undefined],
    ["npx", "entry", undefined],
    [{ command: ["npx", "-y"] }, "command", "a list"],
    [{ command: "" }, "command", ""],
    [{ command: "node", args: "-y" }, "args", "-y"],
    [{ command: "node", args: [{}] }, "args.0", undefined],
    [{ command: "node", env: ["A=1"] }, "env", undefined],
    [{ command: "node", env: { A: { b: "secret" } } }, "env.A", undefined],
    [{ command: "node", env: { A: "${NOT_SET}" } }, "env.A", "${NOT_SET}"],
    [{ command: "node", env: { A: "${command:x}" } }, "env.A", "${command:x}"],
    [{ type: "stido", command: "node" }, "type", "stido"],
    [{ command: "node", timeout: "soon" }, "timeout", "soon"],
    [{ command: "node", max_concurrent: 1_000_000 }, "max_concurrent", 1_000_000],
  ])("that are bad are reported and the others read: %j", async (entry, field, value) => {
    const { servers, problems } = await read({ mcpServers: { bad: entry, good: { command: "node" } } });
    expect(servers).toEqual([{ name: "good", command: "node" }]);
    expect(problems).toEqual([
      {
        server: "bad",
        field,
        ...(value === undefined ? {} : { value }),
        message: expect.any(String) as string,
        fix: expect.stringMatching(/\.$|\?$|\$\{NOT_SET:-value\}$/) as string,
      },
    ]);
  });

  it("are named in a problem, with the file, where they are no mapping", async () => {
    const { problems } = await readClientConfig({ mcpServers: [] }, { environment: {}, folder, file: "a.json" });
    expect(problems).toMatchObject([{ server: "mcpServers", file: "a.json", field: "mcpServers" }]);
  });
});
