import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../../test/e2e/terminal.ts";
import { loadConfig } from "../../../config/load/load-config.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-from-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function run(file: string, text: unknown, ...argv: readonly string[]): Promise<Ran> {
  await writeFile(join(folder, file), typeof text === "string" ? text : JSON.stringify(text, undefined, 2));
  return runInMemory(["setup", "--from", file, ...argv], { folder });
}

/** The servers of the arsenal.yaml that setup wrote, with its env files read. */
async function written(environment: Readonly<Record<string, string>> = {}) {
  const { config, problems } = await loadConfig(join(folder, "arsenal.yaml"), environment);
  expect(problems).toEqual([]);
  return config;
}

const yaml = (): Promise<string> => readFile(join(folder, "arsenal.yaml"), "utf8");

const MCP_HUB = `{
  // The team's servers. Trailing commas are fine.
  "mcpServers": {
    "shop": {
      "command": "\${BIN}/server",
      "args": ["--db", "\${DB_URL}", "--region", "$REGION", "--pin", "\${cmd: op read op://vault/pin}"],
      "env": {
        "API_TOKEN": "\${cmd: op read op://vault/token}",
        "DB_URL": "postgres://shop:\${DB_PASSWORD}@localhost/\${DB_NAME}",
        "DB_NAME": "orders",
        "DB_PASSWORD": "swordfish-2026-x",
        "LANG_HINT": null,
      },
      "dev": { "enabled": true, "cwd": "/srv/shop" },
      "disabled_tools": ["dropTable"],
      "autoApprove": ["list"],
    },
    "wiki": { "url": "https://wiki.example.com/mcp", "headers": { "X-Api-Key": "k-1234567890abcdef" } },
  },
  "nativeMCPServers": { "neovim": {} },
}
`;

describe("setup --from, a file of mcp-hub", () => {
  it("resolves its placeholders, moves secrets and asks for the output of commands", async () => {
    const { code, out } = await run("servers.json", MCP_HUB);
    expect(code).toBe(0);
    expect(out).toContain("Read as a file of mcp-hub.");
    expect((await yaml()) + out).not.toMatch(/swordfish|k-1234567890abcdef/);
    expect((await stat(join(folder, ".toolarsenal/shop.env"))).mode & 0o777).toBe(0o600);
    const secrets = join(folder, ".toolarsenal/shop.env");
    expect(await readFile(secrets, "utf8")).toBe("SHOP_ARGS_5=\nAPI_TOKEN=\nDB_PASSWORD=swordfish-2026-x\n");
    await writeFile(secrets, "SHOP_ARGS_5=42\nAPI_TOKEN=t0ken\nDB_PASSWORD=swordfish-2026-x\n");
    const { mcp, security } = await written({ BIN: "/opt", REGION: "eu", LANG_HINT: "de" });
    const address = "postgres://shop:swordfish-2026-x@localhost/orders";
    expect(mcp.servers[0]).toMatchObject({
      command: "/opt/server",
      args: ["--db", address, "--region", "eu", "--pin", "42"],
      env: { API_TOKEN: "t0ken", DB_URL: address, DB_NAME: "orders", LANG_HINT: "de" },
    });
    expect(mcp.servers[1]).toMatchObject({ headers: { "X-Api-Key": "k-1234567890abcdef" } });
    expect(security.deny).toEqual(["shop.drop_table"]);
  });

  it("lists what it leaves out, with the reason and the next step", async () => {
    const { out } = await run("servers.json", MCP_HUB, "--dry-run");
    expect(out).toContain(
      "  mcpServers.shop.dev: servers are not restarted when their files change.\n" +
        "    Restart the gateway after you change the server.\n",
    );
    expect(out).toContain(
      "mcpServers.shop.env.API_TOKEN: its value is the output of the command op read op://vault/token",
    );
    expect(out).toContain("mcpServers.shop.autoApprove: permissions are the policy's, not a server's.");
    expect(out).toContain("nativeMCPServers: these are Lua servers that run inside Neovim.");
    expect(await readdir(folder)).toEqual(["servers.json"]);
  });
});

const MCPHUB = {
  mcpServers: {
    fetch: { command: "uvx", args: ["mcp-server-fetch"], options: { timeout: 90_000 }, owner: "admin" },
    slack: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-slack"],
      env: { SLACK_BOT_TOKEN: "xoxb-123456789012-abcdef" },
      tools: { postMessage: { enabled: false }, listChannels: { enabled: true, description: "Lists." } },
    },
    off: { type: "streamable-http", url: "https://off.example.com/mcp", enabled: false },
    pets: { type: "openapi", openapi: { url: "https://pets.example.com/openapi.json" } },
  },
  groups: [
    { id: "1", name: "Web Tools", description: "Reads pages.", servers: ["fetch", "gone"] },
    { id: "2", name: "chat", servers: ["fetch", { name: "slack", tools: ["listChannels"] }] },
    { id: "3", name: "chat", servers: [{ name: "slack", tools: "all" }] },
  ],
  users: [{ username: "admin", password: "$2b$10$Vt7krIvjNgyN67LXqly0u" }],
  systemConfig: { routing: { bearerAuthKey: "very-secret-key-1" }, smartRouting: { enabled: true } },
};

describe("setup --from, a file of MCPHub", () => {
  it("writes groups as toolsets and denies tools that were switched off", async () => {
    const { code, out } = await run("mcp_settings.json", MCPHUB);
    expect(code).toBe(0);
    const { mcp, toolsets, security } = await written();
    expect(mcp.servers).toEqual([
      { name: "fetch", command: "uvx", args: ["mcp-server-fetch"], timeoutMs: 90_000 },
      expect.objectContaining({ name: "slack", env: { SLACK_BOT_TOKEN: "xoxb-123456789012-abcdef" } }),
    ]);
    expect(toolsets).toMatchObject([
      { name: "web-tools", description: "Reads pages.", include: { where: { ensembles: ["fetch"] } } },
      { name: "chat", include: { where: { any: [{ ensembles: ["fetch"] }, { ids: ["slack.list_channels"] }] } } },
      { name: "chat-2", include: { where: { ensembles: ["slack"] } } },
    ]);
    expect(security.deny).toEqual(["slack.post_message"]);
    expect((await yaml()) + out).not.toMatch(/xoxb|very-secret|\$2b/);
    expect(out).toContain(
      "Add openapi: [{ name: pets, document: https://pets.example.com/openapi.json }] to arsenal.yaml.",
    );
    for (const field of [
      "users",
      "systemConfig.routing",
      "mcpServers.fetch.owner",
      "mcpServers.slack.tools.listChannels.description",
    ])
      expect(out).toContain(`  ${field}: `);
  });

  it("is content the second time, and keeps a policy file in charge of denials", async () => {
    await run("mcp_settings.json", MCPHUB);
    const first = await yaml();
    const again = await run("mcp_settings.json", MCPHUB);
    expect(again.out).toContain("arsenal.yaml has all of them already.");
    expect(await yaml()).toBe(first);
    await writeFile(join(folder, "arsenal.yaml"), "security: { policy_file: ./policy.yaml }\n");
    const { out } = await run("mcp_settings.json", MCPHUB);
    expect(out).toContain("slack.post_message: it was switched off, and arsenal.yaml has a policy file");
    expect(await yaml()).not.toContain("deny");
  });
});

describe("setup --from, a file of 1MCP", () => {
  it("applies its defaults and both notations of variables, and writes tags as toolsets", async () => {
    const { out } = await run("mcp.json", {
      $schema: "https://docs.1mcp.app/schemas/v1.0.0/mcp-config.json",
      serverDefaults: {
        env: { PROXY: "${HTTP_PROXY}", MODE: "all" },
        requestTimeout: 30_000,
        headers: { "X-Team": "a" },
      },
      mcpServers: {
        files: {
          command: "server-files",
          args: ["--root", "$ROOT"],
          env: ["MODE=own", "HOME_DIR"],
          tags: ["local", "files"],
          disabledTools: ["write_file"],
          connectionTimeout: 5000,
          restartOnExit: true,
        },
        api: { type: "streamableHttp", url: "https://api.example.com/mcp", tags: ["api"], requestTimeout: 15_000 },
        maybe: { command: "maybe", disabled: "{?project.environment=production}" },
      },
      mcpTemplates: { project: { command: "npx", args: ["{{project.path}}"] } },
    });
    expect(out).toContain("Read as a file of 1MCP.");
    const environment = { HTTP_PROXY: "http://proxy", ROOT: "/data", HOME_DIR: "/home/a" };
    const { mcp, toolsets, security } = await written(environment);
    expect(mcp.servers).toEqual([
      {
        name: "files",
        command: "server-files",
        args: ["--root", "/data"],
        env: { PROXY: "http://proxy", MODE: "own", HOME_DIR: "/home/a" },
        timeoutMs: 30_000,
        connectTimeoutMs: 5000,
      },
      { name: "api", type: "http", url: "https://api.example.com/mcp", headers: { "X-Team": "a" }, timeoutMs: 15_000 },
      { name: "maybe", command: "maybe", env: { PROXY: "http://proxy", MODE: "all" }, timeoutMs: 30_000 },
    ]);
    expect(toolsets.map(({ name }) => name)).toEqual(["local", "files", "api"]);
    expect(security.deny).toEqual(["files.write_file"]);
    for (const field of ["mcpTemplates", "mcpServers.files.restartOnExit", "mcpServers.maybe.disabled"])
      expect(out).toContain(`  ${field}: `);
  });
});

describe("setup --from, mcp-proxy", () => {
  it("connects to the address that a client reached through mcp-proxy, and starts its named servers", async () => {
    const { out } = await run("servers.json", {
      mcpServers: {
        fetch: { enabled: true, timeout: 60, command: "uvx", args: ["mcp-server-fetch"], transportType: "stdio" },
        remote: {
          command: "/usr/local/bin/mcp-proxy",
          args: ["http://example.io/sse", "--headers", "X-Team", "a"],
          env: { API_ACCESS_TOKEN: "tok-1234567890abcdef" },
        },
      },
    });
    expect(out).toContain("Read as a file of mcp-proxy.");
    expect(await yaml()).not.toContain("tok-1234567890abcdef");
    expect((await written()).mcp.servers).toMatchObject([
      { name: "fetch", type: "stdio", command: "uvx", args: ["mcp-server-fetch"], timeoutMs: 60_000 },
      {
        name: "remote",
        type: "sse",
        url: "http://example.io/sse",
        headers: { Authorization: "Bearer tok-1234567890abcdef", "X-Team": "a" },
      },
    ]);
  });

  it("reads the command lines of a script: quotes, continued lines, variables, both programs' options", async () => {
    const { out } = await run(
      "start.sh",
      [
        "#!/bin/sh",
        "# mcp-proxy -- not-this-one",
        'DEBUG=1 npx -y mcp-proxy@6 --port 8080 --apiKey "key-1234567890" --requestTimeout 120000 \\',
        "  -- npx -y @modelcontextprotocol/server-filesystem@1.0.0 '/srv/my files' --port 3000 &",
        "mcp-proxy --port=9000 --named-server fetch 'uvx mcp-server-fetch --agent \"me too\"'; echo done",
        "mcp-proxy --transport streamablehttp -H X-Team $TEAM https://api.example.com/mcp",
        "npx mcp-proxy --shell -- tsx server.ts",
      ].join("\n"),
    );
    expect((await written({ TEAM: "blue" })).mcp.servers).toEqual([
      {
        name: "server-filesystem",
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem@1.0.0", "/srv/my files", "--port", "3000"],
        env: { DEBUG: "1" },
        timeoutMs: 120_000,
      },
      { name: "fetch", command: "uvx", args: ["mcp-server-fetch", "--agent", "me too"] },
      { name: "api.example.com", type: "http", url: "https://api.example.com/mcp", headers: { "X-Team": "blue" } },
      { name: "server", command: "sh", args: ["-c", "tsx server.ts"] },
    ]);
    expect(out).not.toContain("key-1234567890");
    expect(out).toContain("line 3: --apiKey: keys are stored as hashes here.");
    expect(out).toContain("line 5: --port: all servers share the gateway's address.");
  });
});

describe("setup --from, files of clients", () => {
  it("reads a file of VS Code with its inputs, and says what to write where", async () => {
    const { out } = await run("mcp.json", {
      inputs: [{ id: "gh-token", type: "promptString", password: true }],
      servers: {
        gh: { type: "http", url: "https://gh.example.com/mcp", headers: { Authorization: "Bearer ${input:gh-token}" } },
      },
    });
    expect(out).toContain("Read as a file of VS Code");
    expect(out).toMatch(/^ {2}GH_TOKEN +gh +.*gh\.env$/m);
  });

  it("lists members of an entry that nobody knows, and ignores permissions", async () => {
    const { code, out } = await run("mcp.json", {
      mcpServers: { one: { command: "true", trust: true, color: "red" } },
    });
    expect(code).toBe(0);
    expect(out).toContain("mcpServers.one.color: ToolArsenal has no such setting.");
    expect((await written()).mcp.servers).toEqual([{ name: "one", command: "true" }]);
  });

  it("reports its findings as JSON, without secrets", async () => {
    const { out } = await run("mcp_settings.json", MCPHUB, "--json", "--dry-run");
    const { from, toolsets } = JSON.parse(out) as Record<string, unknown>;
    expect(from).toMatchObject({ kind: "mcphub", denied: ["slack.post_message"] });
    expect(toolsets).toEqual(["web-tools", "chat", "chat-2"]);
    expect(out).not.toMatch(/xoxb|very-secret|\$2b/);
  });
});

it("setup --from names the servers that cannot be used, and their problem", async () => {
  const mcpServers = { a: { comand: "x" }, b: 5, c: { url: "notaurl" }, d: { command: "npx" } };
  const { code, out } = await run("mcp.json", { mcpServers }, "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out).found[0].problems).toEqual([
    "a: the entry has neither command nor url",
    "b: the entry has neither command nor url",
    'c: url is "notaurl", which is not an address',
  ]);
});

describe("setup --from refuses", () => {
  it.each([
    [
      "broken JSON, with the line",
      ["x.json"],
      '{\n  "mcpServers": {\n    "a": oops\n',
      /x\.json:3:10 expected a value/,
    ],
    [
      "a file without servers, with its keys",
      ["x.json"],
      '{ "theme": 1 }',
      /has no servers that setup knows.*Its keys: theme/,
    ],
    ["a file that is no object", ["x.json"], "[1]", /x\.json is not an object/],
    ["TOML, with the file that has the servers", ["config.toml"], "[auth]\n", /1MCP has its servers in mcp\.json/],
    [
      "a script without mcp-proxy",
      ["x.sh", "--from-kind", "mcp-proxy"],
      "# mcp-proxy\necho\n",
      /no command line of mcp-proxy/,
    ],
    ["an unknown kind", ["x.json", "--from-kind", "hub"], "{}", /--from-kind cannot be "hub"\..*mcp-hub/s],
    [
      "--write-clients beside it",
      ["x.json", "--write-clients"],
      "{}",
      /--write-clients cannot be combined with --from/,
    ],
    ["--inline-env beside it", ["x.json", "--inline-env"], "{}", /Secrets of another program's file go into env files/],
  ])("%s", async (_, [file = "", ...argv], text, message) => {
    const { code, err } = await run(file, text, ...argv);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(await readdir(folder)).toEqual([file]);
  });

  it("a file that does not exist, and --from-kind alone", async () => {
    const missing = await runInMemory(["setup", "--from", "gone.json"], { folder });
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("The file gone.json does not exist.")]);
    const alone = await runInMemory(["setup", "--from-kind", "1mcp"], { folder });
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining("Add --from FILE.")]);
  });
});

describe("docs/guides/from-other-gateways.md", () => {
  const page = readFileSync(new URL("../../../../docs/guides/from-other-gateways.md", import.meta.url), "utf8");
  const pairs = page.matchAll(/^`([\w.]+)`:\n\n```\w+\n([\s\S]*?)```\n\n`arsenal\.yaml`:\n\n```yaml\n([\s\S]*?)```/gm);

  it.each(Array.from(pairs, ([, file = "", before = "", after = ""]) => [file, before, after] as const))(
    "shows what setup makes of %s",
    async (file, before, after) => {
      expect((await run(file, before)).code).toBe(0);
      expect((await yaml()).split("\n").slice(2).join("\n")).toBe(after);
    },
  );
});
