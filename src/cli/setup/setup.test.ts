import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../test/e2e/terminal.ts";
import { loadConfig } from "../../config/load-config.ts";
import { clientFiles } from "./client-files.ts";
import { lineDiff } from "./line-diff.ts";
import { withoutSecrets } from "./secrets.ts";

let root: string;
let home: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "arsenal-"));
  [home, folder] = [join(root, "home"), join(root, "project")];
  await mkdir(home);
  await mkdir(folder);
});
afterEach(() => rm(root, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> =>
  runInMemory(["setup", ...argv], { folder, environment: { HOME: home, XDG_CONFIG_HOME: join(home, ".config") } });

async function put(file: string, text: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

const CURSOR = `{
  // of the team
  "mcpServers": {
    "github": { "command": "docker", "args": ["run", "-i"], "env": { "GITHUB_TOKEN": "ghp_secret" }, "alwaysAllow": ["x"] },
    "files": { "command": "npx", "args": ["-y", "files", "/data"] },
  },
  "theme": "dark", // stays
}
`;

describe("the places of clients", () => {
  const files = (platform: NodeJS.Platform, environment: Record<string, string>): readonly string[] =>
    clientFiles({
      out: { write: () => 0 },
      err: { write: () => 0 },
      folder: platform === "win32" ? "C:\\work" : "/work-here",
      environment,
      signal: new AbortController().signal,
      platform,
    }).map(({ file }) => file);

  it("are those of each system", () => {
    expect(files("darwin", { HOME: "/Users/me" })).toEqual([
      "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
      "/Users/me/Library/Application Support/Code/User/mcp.json",
      "/Users/me/.cursor/mcp.json",
      "/Users/me/.codeium/windsurf/mcp_config.json",
      "/Users/me/.claude.json",
      "/Users/me/.claude.json",
      "/work-here/.cursor/mcp.json",
      "/work-here/.vscode/mcp.json",
      "/work-here/.mcp.json",
    ]);
    expect(files("linux", { HOME: "/home/me" })[0]).toBe("/home/me/.config/Claude/claude_desktop_config.json");
    expect(files("linux", { HOME: "/home/me", XDG_CONFIG_HOME: "/x" })[1]).toBe("/x/Code/User/mcp.json");
    const windows = files("win32", { USERPROFILE: "C:\\Users\\me", APPDATA: "C:\\Users\\me\\AppData\\Roaming" });
    expect(windows[0]).toBe("C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json");
    expect(windows[2]).toBe("C:\\Users\\me\\.cursor\\mcp.json");
    expect(files("linux", {}).length).toBe(3);
  });
});

describe("setup", () => {
  it("says where it looked where nothing is found, and exits 1", async () => {
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toMatch(/^No MCP client's servers were found\. Looked at:\n {2}~\/\.config\/Claude/);
    expect(await readdir(folder)).toEqual([]);
  });

  it("shows what it found and writes an arsenal.yaml that works once the variables are set [002-mcp-discovery]", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    await put(join(home, ".config/Claude/claude_desktop_config.json"), '{"mcpServers": {');
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toMatch(/^Cursor +~\/\.cursor\/mcp\.json +github, files$/m);
    expect(out).toMatch(/^Claude Desktop +~\/\.config\/Claude\/claude_desktop_config\.json +none +1 problem$/m);
    expect(out).toContain("  export GITHUB_TOKEN=…  # env.GITHUB_TOKEN of github\n");
    const file = join(folder, "arsenal.yaml");
    const text = await readFile(file, "utf8");
    expect(text + out).not.toContain("ghp_secret");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { config, problems } = await loadConfig(file, { GITHUB_TOKEN: "t" });
    expect(problems).toEqual([]);
    expect(config.mcp.servers).toEqual([
      { name: "github", command: "docker", args: ["run", "-i"], env: { GITHUB_TOKEN: "t" } },
      { name: "files", command: "npx", args: ["-y", "files", "/data"] },
    ]);
  });

  it("copies the values with --inline-env, but does not show them", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const { out } = await run("--inline-env");
    expect(out).not.toContain("ghp_secret");
    expect(out).not.toContain("export");
    const { config } = await loadConfig(join(folder, "arsenal.yaml"), {});
    expect(config.mcp.servers[0]?.env).toEqual({ GITHUB_TOKEN: "ghp_secret" });
  });

  it("has a server that two clients share once, and one that differs under another name", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    await put(join(folder, ".vscode/mcp.json"), '{"servers": {"github": {"type": "http", "url": "https://gh/mcp"}}}');
    await put(
      join(folder, ".mcp.json"),
      '{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files", "/data"]}}}',
    );
    const { out } = await run();
    expect(out).toContain("VS Code has another github than the one before: it is called github-vs-code.");
    const { config } = await loadConfig(join(folder, "arsenal.yaml"), { GITHUB_TOKEN: "t" });
    expect(config.mcp.servers.map(({ name }) => name)).toEqual(["github", "files", "github-vs-code"]);
  });

  it("never overwrites: it leaves what is there, or adds to it with --force and keeps a copy", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const own = "# mine\nexecution:\n  max_retries: 1 # few\nmcpServers:\n  old: { command: old }\n";
    const file = await put(join(folder, "arsenal.yaml"), own);
    const refused = await run("--write-clients");
    expect(refused.code).toBe(1);
    expect(refused.out).toContain("arsenal.yaml is there already and was left as it is: --force adds");
    expect(await readFile(file, "utf8")).toBe(own);
    expect(await readFile(join(home, ".cursor/mcp.json"), "utf8")).toBe(CURSOR);
    expect((await run("--force")).code).toBe(0);
    const text = await readFile(file, "utf8");
    expect(text).toMatch(/^# mine\nexecution:\n {2}max_retries: 1 # few\nmcpServers:\n {2}old: \{ command: old \}/);
    expect(Object.keys((await loadConfig(file, { GITHUB_TOKEN: "t" })).config.mcp.servers)).toHaveLength(3);
    const [backup] = (await readdir(folder)).filter((name) => /^arsenal\.yaml\.bak-\d{8}T\d{6}Z$/.test(name));
    expect(await readFile(join(folder, backup ?? ""), "utf8")).toBe(own);
  });

  it("puts itself in place of a client's servers, keeps everything else and a copy, and is content the second time", async () => {
    const cursor = await put(join(home, ".cursor/mcp.json"), CURSOR);
    const project = `{"mcpServers": {"a": {"command": "a"}}, "projects": {${JSON.stringify(folder)}: {"mcpServers": {"b": {"command": "b"}}, "trust": 1}}}`;
    const claude = await put(join(home, ".claude.json"), project);
    const first = await run("--write-clients");
    expect(first.code).toBe(0);
    expect(first.out).toContain("--inline-env is simpler for those.");
    const text = await readFile(cursor, "utf8");
    expect(text).toMatch(/^\{\n {2}\/\/ of the team\n {2}"mcpServers": \{\n {4}"toolarsenal": \{\n/);
    expect(text).toMatch(/\n {2}\},\n {2}"theme": "dark", \/\/ stays\n\}\n$/);
    expect(text).toContain(
      `"--stdio",\n        "--config",\n        ${JSON.stringify(join(folder, "arsenal.yaml"))}\n`,
    );
    const after = JSON.parse(await readFile(claude, "utf8")) as Record<string, Record<string, unknown>>;
    const entry = { type: "stdio", command: process.execPath, args: expect.any(Array) as unknown[] };
    expect(after["mcpServers"]).toEqual({ toolarsenal: entry });
    expect(after["projects"]?.[folder]).toEqual({ mcpServers: { toolarsenal: entry }, trust: 1 });
    const backups = (await readdir(home)).filter((name) => name.startsWith(".claude.json.bak-"));
    expect(backups).toHaveLength(1);
    expect(await readFile(join(home, backups[0] ?? ""), "utf8")).toBe(project);

    const arsenal = await readFile(join(folder, "arsenal.yaml"), "utf8");
    const second = await run("--write-clients", "--force");
    expect(second.code).toBe(0);
    expect(second.out).toContain("There is nothing to write: only ToolArsenal itself is set up.");
    expect(await readFile(join(folder, "arsenal.yaml"), "utf8")).toBe(arsenal);
    expect(await readFile(cursor, "utf8")).toBe(text);
    expect((await readdir(home)).filter((name) => name.includes(".bak-"))).toHaveLength(1);
  });

  it("is content where arsenal.yaml has them all", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    await run();
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toContain("arsenal.yaml has all of them already.");
  });

  it("--dry-run shows both changes without secrets and writes nothing", async () => {
    const cursor = await put(join(home, ".cursor/mcp.json"), CURSOR);
    const { code, out } = await run("--dry-run", "--write-clients", "--inline-env");
    expect(code).toBe(0);
    expect(out).toContain("+       GITHUB_TOKEN: ${GITHUB_TOKEN}\n");
    expect(out).toContain('-   "github": {\n');
    expect(out).toContain('+   "toolarsenal": {\n');
    expect(out).not.toContain("ghp_secret");
    expect([await readdir(folder), await readFile(cursor, "utf8")]).toEqual([[], CURSOR]);
  });

  it("--json has what was found and done, without secrets", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const { code, out, err } = await run("--json", "--config", "other.yaml");
    expect([code, err]).toEqual([0, ""]);
    expect(out).not.toContain("ghp_secret");
    expect(JSON.parse(out)).toMatchObject({
      dryRun: false,
      found: [{ client: "Cursor", servers: ["github", "files"], hasOwnEntry: false, problems: [] }],
      config: { file: join(folder, "other.yaml"), outcome: "written" },
      servers: ["github", "files"],
      variables: [{ name: "GITHUB_TOKEN", server: "github", field: "env.GITHUB_TOKEN" }],
      clients: [],
    });
  });
});

describe("what may be secret", () => {
  it.each([
    [{ env: { API_KEY: "k" } }, { env: { API_KEY: "${MY_SERVER_API_KEY}" } }],
    [{ env: { MY_SERVER_KEY: "k" } }, { env: { MY_SERVER_KEY: "${MY_SERVER_KEY}" } }],
    [{ env: { A: "${env:A}" } }, { env: { A: "${env:A}" } }],
    [{ headers: { Authorization: "Bearer k" } }, { headers: { Authorization: "Bearer ${MY_SERVER_AUTHORIZATION}" } }],
    [{ args: ["--api-key", "k", "-v"] }, { args: ["--api-key", "${MY_SERVER_API_KEY}", "-v"] }],
    [{ args: ["--token=k"] }, { args: ["--token=${MY_SERVER_TOKEN}"] }],
    [{ args: ["postgres://me:pw@h/db"] }, { args: ["${MY_SERVER_ARG_0}"] }],
    [{ args: ["sk-abcdefgh12345"] }, { args: ["${MY_SERVER_ARG_0}"] }],
    [{ args: ["-y", "@scope/pkg", "/data"] }, { args: ["-y", "@scope/pkg", "/data"] }],
    [{ url: "https://x/mcp?api_key=k" }, { url: "${MY_SERVER_URL}" }],
    [{ url: "https://x/mcp?page=1" }, { url: "https://x/mcp?page=1" }],
    [
      { oauth: { clientId: "i", clientSecret: "k" } },
      { oauth: { clientId: "i", clientSecret: "${MY_SERVER_CLIENT_SECRET}" } },
    ],
  ])("becomes a variable: %j", (given, expected) => {
    expect(withoutSecrets("my-server", given).entry).toEqual(expected);
  });

  it("never shares a variable with another value, and does with the same", () => {
    const given = { args: ["--token", "one", "--token", "two"], env: { TOKEN: "one" } };
    expect(withoutSecrets("s", given).entry).toEqual({
      args: ["--token", "${S_TOKEN}", "--token", "${S_TOKEN_2}"],
      env: { TOKEN: "${S_TOKEN}" },
    });
  });
});

it("a diff has the lines that go and those that come", () => {
  expect(lineDiff("a\nb\nc", "a\nx\ny\nc")).toBe("- b\n+ x\n+ y");
  expect(lineDiff("a\nb", "a\nb")).toBe("");
  expect(lineDiff("a\na", "a\na\na")).toBe("+ a");
});
