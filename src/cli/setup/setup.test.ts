import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../test/e2e/terminal.ts";
import { loadConfig } from "../../config/load/load-config.ts";
import { envFileText, fitsEnvFile, readEnv } from "./env-file.ts";
import { lineDiff } from "./line-diff.ts";
import { separateSecrets, withoutSecrets } from "./secrets.ts";

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

describe("setup", () => {
  it("says where it looked when nothing is found, and exits 1", async () => {
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toMatch(/^Found no MCP servers\. Looked at:\n {2}~\/\.config\/Claude/);
    expect(await readdir(folder)).toEqual([]);
  });

  it("shows what it found and writes an arsenal.yaml that works [002-mcp-discovery]", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    await put(join(home, ".config/Claude/claude_desktop_config.json"), '{"mcpServers": {');
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toMatch(/^Cursor +~\/\.cursor\/mcp\.json +github, files$/m);
    expect(out).toMatch(/^Claude Desktop +~\/\.config\/Claude\/claude_desktop_config\.json +none +1 problem$/m);
    expect(out).toContain(`${join(folder, ".toolarsenal/github.env")} created, mode 600.`);
    const file = join(folder, "arsenal.yaml");
    const text = await readFile(file, "utf8");
    expect(text + out).not.toContain("ghp_secret");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { config, problems } = await loadConfig(file, {});
    expect(problems).toEqual([]);
    expect(config.mcp.servers).toEqual([
      { name: "github", command: "docker", args: ["run", "-i"], env: { GITHUB_TOKEN: "ghp_secret" } },
      { name: "files", command: "npx", args: ["-y", "files", "/data"] },
    ]);
  });

  it("copies the values with --inline-env, but does not show them", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const { out } = await run("--inline-env");
    expect(out).not.toContain("ghp_secret");
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".env"))).toEqual([]);
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
    expect(out).toContain("VS Code has a different server called github; it becomes github-vs-code.");
    const { config } = await loadConfig(join(folder, "arsenal.yaml"), {});
    expect(config.mcp.servers.map(({ name }) => name)).toEqual(["github", "files", "github-vs-code"]);
  });

  it("has a server once if one client writes the type that the other leaves out", async () => {
    const files = '"command": "npx", "args": ["-y", "files"]';
    await put(
      join(home, ".cursor/mcp.json"),
      `{"mcpServers": {"files": {${files}}, "hub": {"url": "https://hub/mcp"}, "old": {"url": "https://old/mcp"}}}`,
    );
    await put(
      join(folder, ".vscode/mcp.json"),
      `{"servers": {"files": {"type": "stdio", ${files}}, "hub": {"type": "http", "url": "https://hub/mcp"}, "old": {"type": "sse", "url": "https://old/mcp"}}}`,
    );
    const { out } = await run();
    expect(out.match(/different server called \w+/g)).toEqual(["different server called old"]);
    const { config } = await loadConfig(join(folder, "arsenal.yaml"), {});
    expect(config.mcp.servers.map(({ name }) => name)).toEqual(["files", "hub", "old", "old-vs-code"]);
  });

  it("refuses to touch an arsenal.yaml that is not valid YAML, unless --force says so, and keeps a copy", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const file = await put(join(folder, "arsenal.yaml"), "mcpServers: [\n");
    const refused = await run("--write-clients");
    expect(refused.code).toBe(1);
    expect(refused.out).toContain("arsenal.yaml is not a valid YAML mapping.");
    expect(await readFile(file, "utf8")).toBe("mcpServers: [\n");
    expect(await readFile(join(home, ".cursor/mcp.json"), "utf8")).toBe(CURSOR);
    expect((await run("--force")).code).toBe(0);
    expect((await loadConfig(file, {})).config.mcp.servers).toHaveLength(2);
    const [backup] = (await readdir(folder)).filter((name) => /^arsenal\.yaml\.bak-\d{8}T\d{6}Z$/.test(name));
    expect(await readFile(join(folder, backup ?? ""), "utf8")).toBe("mcpServers: [\n");
  });

  it("leaves the rest of an existing arsenal.yaml exactly as it is written", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const own =
      "# mine\nmodules: [./tools.mjs]   # flow\nexecution:   { max_retries: 1 }\n\nstate: {file: ./s.sqlite}\n";
    const file = await put(join(folder, "arsenal.yaml"), own);
    const dry = await run("--dry-run");
    expect(dry.out).not.toMatch(/^- /m);
    expect((await run()).code).toBe(0);
    const text = await readFile(file, "utf8");
    expect(text.startsWith(own)).toBe(true);
    expect((await loadConfig(file, {})).config.mcp.servers).toHaveLength(2);
  });

  it.each([
    "{ execution: { max_retries: 1 } }\n",
    "execution:\n  max_retries: 1\n...\n",
    "mcpServers:\n  old: { command: old }\n",
  ])("adds to %j too", async (own) => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const file = await put(join(folder, "arsenal.yaml"), own);
    expect((await run()).code).toBe(0);
    const { config } = await loadConfig(file, {});
    expect(config.mcp.servers.map(({ name }) => name)).toEqual(expect.arrayContaining(["github", "files"]));
    expect(config.execution.maxRetries === 1 || config.mcp.servers.some(({ name }) => name === "old")).toBe(true);
  });

  it("leaves a server alone that is configured under mcp.servers or servers already", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const own = "mcp:\n  servers:\n    - { name: github, command: mine }\nservers:\n  files: { command: mine }\n";
    const file = await put(join(folder, "arsenal.yaml"), own);
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toContain("github, files: configured in arsenal.yaml in another way, and left as they are.");
    expect(await readFile(file, "utf8")).toBe(own);
  });

  it("does not show a secret that an existing arsenal.yaml holds", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    await run("--inline-env");
    const { code, out } = await run("--force", "--dry-run");
    expect(code).toBe(0);
    expect(out).toContain("-       GITHUB_TOKEN: …");
    expect(out).not.toContain("ghp_secret");
  });

  it("makes private what it copies of an env file that others could read", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    const env = await put(join(folder, ".toolarsenal/github.env"), "GITHUB_TOKEN=old\n");
    expect((await run("--force")).code).toBe(0);
    const names = (await readdir(dirname(env))).filter((name) => name.startsWith("github.env"));
    expect(names).toHaveLength(2);
    for (const name of names) expect((await stat(join(dirname(env), name))).mode & 0o777).toBe(0o600);
  });

  it("says into which file a value belongs that VS Code asks for", async () => {
    const servers = { gh: { command: "gh", env: { TOKEN: "${input:gh-token}" } } };
    await put(join(folder, ".vscode/mcp.json"), JSON.stringify({ inputs: [{ id: "gh-token" }], servers }));
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toMatch(/Write each into its env file:\n {2}GH_TOKEN +gh +\S+\.toolarsenal\/gh\.env\n/);
    const env = join(folder, ".toolarsenal/gh.env");
    expect(await readFile(env, "utf8")).toBe("GH_TOKEN=\n");
    await writeFile(env, "GH_TOKEN=mine\n");
    const { config } = await loadConfig(join(folder, "arsenal.yaml"), {});
    expect(config.mcp.servers[0]?.env).toMatchObject({ TOKEN: "mine" });
    expect((await run()).out).toContain("has all of them already");
    expect(await readFile(env, "utf8")).toBe("GH_TOKEN=mine\n");
  });

  it("keeps approvals and accepted tools in a file, unless the state is configured already", async () => {
    await put(join(home, ".cursor/mcp.json"), CURSOR);
    await run();
    const file = join(folder, "arsenal.yaml");
    const stateOf = async (): Promise<unknown> => (await loadConfig(file, { GITHUB_TOKEN: "t" })).config.state;
    expect(await stateOf()).toEqual({ file: join(folder, ".toolarsenal", "state.sqlite") });
    await put(file, "state: { file: mine.sqlite }\n");
    await run("--force");
    expect(await stateOf()).toEqual({ file: join(folder, "mine.sqlite") });
  });

  it("does not say that it is set up if the only file of a client is broken", async () => {
    await put(join(home, ".cursor/mcp.json"), "{ broken");
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toContain("expected a key in double quotes");
    expect(out).toContain("Nothing to write: no file has a server that can be used.");
  });

  it("puts itself in place of a client's servers, keeps everything else and a copy, and is content the second time", async () => {
    const cursor = await put(join(home, ".cursor/mcp.json"), CURSOR);
    const project = `{"mcpServers": {"a": {"command": "a"}}, "projects": {${JSON.stringify(folder)}: {"mcpServers": {"b": {"command": "b"}}, "trust": 1}}}`;
    const claude = await put(join(home, ".claude.json"), project);
    const first = await run("--write-clients", "--share", "--stdio");
    expect(first.code).toBe(0);
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
    expect(second.out).toContain("Nothing to write: only ToolArsenal itself is set up.");
    expect(await readFile(join(folder, "arsenal.yaml"), "utf8")).toBe(arsenal);
    expect(await readFile(cursor, "utf8")).toBe(text);
    expect((await readdir(home)).filter((name) => name.includes(".bak-"))).toHaveLength(1);
  });

  it("is content when arsenal.yaml has them all", async () => {
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
    expect(out).toContain("+       GITHUB_TOKEN: …\n");
    expect(out).toContain(
      '-     "github": { "command": "docker", "args": ["run", "-i"], "env": { "GITHUB_TOKEN": "…" }',
    );
    expect(out).toContain('+     "toolarsenal": {\n');
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
      secrets: [{ server: "github", file: join(folder, ".toolarsenal/github.env"), variables: ["GITHUB_TOKEN"] }],
      files: [
        { file: join(folder, ".toolarsenal/.gitignore"), action: "create" },
        { file: join(folder, ".toolarsenal/github.env"), action: "create", mode: "600" },
        { file: join(folder, "other.yaml"), action: "create", mode: "600" },
      ],
    });
  });
});

describe("what looks secret", () => {
  it.each([
    [{ env: { API_KEY: "k", LOG_LEVEL: "debug" } }, { env: { LOG_LEVEL: "debug" } }, { API_KEY: "k" }],
    [{ env: { A_TOKEN: "${env:A}" } }, { env: { A_TOKEN: "${env:A}" } }, {}],
    [
      { headers: { Authorization: "Bearer k", "X-Region": "eu" } },
      { headers: { Authorization: "Bearer ${MY_SERVER_AUTHORIZATION}", "X-Region": "eu" } },
      { MY_SERVER_AUTHORIZATION: "k" },
    ],
    [
      { args: ["--api-key", "k", "-v"] },
      { args: ["--api-key", "${MY_SERVER_API_KEY}", "-v"] },
      { MY_SERVER_API_KEY: "k" },
    ],
    [{ args: ["--token=k"] }, { args: ["--token=${MY_SERVER_TOKEN}"] }, { MY_SERVER_TOKEN: "k" }],
    [
      { args: ["--header", "Authorization: Bearer k"] },
      { args: ["--header", "Authorization: Bearer ${MY_SERVER_AUTHORIZATION}"] },
      { MY_SERVER_AUTHORIZATION: "k" },
    ],
    [{ args: ["-e", "GH_TOKEN=k"] }, { args: ["-e", "GH_TOKEN=${MY_SERVER_GH_TOKEN}"] }, { MY_SERVER_GH_TOKEN: "k" }],
    [
      { args: ["postgres://me:pw@h/db"] },
      { args: ["${MY_SERVER_ARG_0}"] },
      { MY_SERVER_ARG_0: "postgres://me:pw@h/db" },
    ],
    [{ args: ["sk-abcdefgh12345"] }, { args: ["${MY_SERVER_ARG_0}"] }, { MY_SERVER_ARG_0: "sk-abcdefgh12345" }],
    [{ url: "https://x/mcp?api_key=k" }, { url: "${MY_SERVER_URL}" }, { MY_SERVER_URL: "https://x/mcp?api_key=k" }],
    [
      { url: "https://x/s/a1b2c3d4e5f6g7h8i9j0k1l2/mcp" },
      { url: "${MY_SERVER_URL}" },
      { MY_SERVER_URL: "https://x/s/a1b2c3d4e5f6g7h8i9j0k1l2/mcp" },
    ],
    [
      { oauth: { clientId: "i", clientSecret: "k" } },
      { oauth: { clientId: "i", clientSecret: "${MY_SERVER_CLIENT_SECRET}" } },
      { MY_SERVER_CLIENT_SECRET: "k" },
    ],
  ])("goes into the env file: %j", (given, entry, secrets) => {
    expect(separateSecrets("my-server", given)).toEqual({ entry, secrets });
  });

  it.each([
    { args: ["-y", "@scope/pkg@1.2.3", "/data", "--port", "8080", "C:\\data"] },
    { url: "https://x/mcp?page=1" },
    {
      env: { LOG_LEVEL: "debug", MAX_TOKENS: "4096", BASE_URL: "https://api.example.com/v1", KEY_FILE: "/etc/key.pem" },
    },
    { env: { TOKENIZERS_PARALLELISM: "false", AUTH_MODE: "oauth", NODE_OPTIONS: "--max-old-space-size=4096" } },
    { headers: { Accept: "text/plain", "X-MCP-Toolsets": "repos,issues" } },
  ])("is nothing of %j", (entry) => {
    expect(separateSecrets("s", entry)).toEqual({ entry, secrets: {} });
    expect(withoutSecrets(entry)).toEqual(entry);
  });

  it("never has one variable for two values, and has one for the same value", () => {
    const given = { args: ["--token", "one", "--token", "two", "--token", "one"], env: { S_TOKEN: "three" } };
    expect(separateSecrets("s", given)).toEqual({
      entry: { args: ["--token", "${S_TOKEN_2}", "--token", "${S_TOKEN_3}", "--token", "${S_TOKEN_2}"] },
      secrets: { S_TOKEN_2: "one", S_TOKEN_3: "two", S_TOKEN: "three" },
    });
  });

  it("stays in the entry when an env file cannot hold it", () => {
    const env = { "odd-name-token": "k", ALL_QUOTES_KEY: "'\"`\n#" };
    expect(separateSecrets("s", { env })).toEqual({ entry: { env }, secrets: {} });
    expect(withoutSecrets({ env })).toEqual({ env: { "odd-name-token": "…", ALL_QUOTES_KEY: "…" } });
  });
});

describe("an env file", () => {
  it.each([
    "plain",
    "a b",
    " padded ",
    "it's",
    'say "hi"',
    "# no comment",
    "two\nlines",
    "back\\nslash",
    "${A}",
    "a=b",
  ])("gives back %j as it was", (value) => {
    expect(fitsEnvFile("NAME", value)).toBe(true);
    expect(readEnv(envFileText({ NAME: value, OTHER: "x" }))).toEqual({ NAME: value, OTHER: "x" });
  });

  it("keeps values that are there already", () => {
    expect(envFileText({ A: "new" }, ["B", "C"], "A=old\nB=mine\n# note\n")).toBe("B=mine\nC=\nA=new\n");
  });
});

it("a diff has the lines that go and those that come", () => {
  expect(lineDiff("a\nb\nc", "a\nx\ny\nc")).toBe("- b\n+ x\n+ y");
  expect(lineDiff("a\nb", "a\nb")).toBe("");
  expect(lineDiff("a\na", "a\na\na")).toBe("+ a");
});
