import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Ran, runInMemory } from "../terminal.ts";

/** Each client, where its file is, and its servers as arsenal.yaml has them. The files in `files/` are recordings; its README says of what. */
const CLIENTS: readonly (readonly [name: string, file: string, servers: object])[] = [
  [
    "claude-desktop.json",
    ".config/Claude/claude_desktop_config.json",
    { filesystem: { command: "/opt/shims/npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada"] } },
  ],
  [
    "claude-code.json",
    ".claude.json",
    {
      docs: { type: "http", url: "https://docs.example.com/mcp", headers: { "X-Team": "support" } },
      notes: { command: "npx", args: ["-y", "notes-mcp", "--read-only"] },
    },
  ],
  ["cursor.json", ".cursor/mcp.json", { thinking: { command: "npx" }, "library-docs": { command: "npx" } }],
  ["vs-code.json", ".config/Code/User/mcp.json", { "io.github.example/browser-mcp": { command: "npx" } }],
  [
    "windsurf.json",
    ".codeium/windsurf/mcp_config.json",
    { filesystem: { command: "npx" }, git: { command: "/opt/uv/bin/uv" }, memory: { env: { MEMORY_FILE_PATH: "" } } },
  ],
  [
    "zed.json",
    ".config/zed/settings.json",
    { packages: { command: "mise", args: ["x", "--", "packages-cli", "mcp"] }, registry: { command: "mise" } },
  ],
  [
    "cline.json",
    ".cline/data/settings/cline_mcp_settings.json",
    {
      notes: { command: "npx", args: ["-y", "notes-mcp"] },
      docs: { url: "https://docs.example.com/mcp", headers: { "X-Team": "support" } },
    },
  ],
  [
    "roo-code.json",
    ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
    { crawler: { command: "powershell" }, thinking: { command: "npx", args: ["-y", "thinking-mcp"] } },
  ],
  [
    "continue.yaml",
    ".continue/config.yaml",
    { "office-network": { args: ["office_server.py"], env: { PYTHONPATH: "." } } },
  ],
  [
    "junie.json",
    ".junie/mcp/mcp.json",
    { "shop-helper": { args: ["/home/ada/projects/shop/artisan", "helper:mcp"] }, sites: {} },
  ],
  [
    "goose.yaml",
    ".config/goose/config.yaml",
    { fetch: { command: "uvx", args: ["mcp-server-fetch"], enabled: false } },
  ],
  ["lm-studio.json", ".lmstudio/mcp.json", { "hub-server": { url: "https://hub.example.com/mcp" } }],
  [
    "gemini-cli.json",
    ".gemini/settings.json",
    { notes: { command: "npx" }, docs: { url: "https://docs.example.com/mcp", headers: { "X-Team": "support" } } },
  ],
  [
    "codex-cli.toml",
    ".codex/config.toml",
    {
      notes: { command: "npx", env: { NOTES_LOG: "info" } },
      docs: { url: "https://docs.example.com/mcp", headers: { Authorization: "Bearer ${DOCS_TOKEN}" } },
    },
  ],
  [
    "opencode.jsonc",
    ".config/opencode/opencode.jsonc",
    {
      docs: { type: "http", url: "https://docs.example.com/mcp" },
      notes: { command: "npx", args: ["-y", "notes-mcp"] },
    },
  ],
  ["warp.json", ".warp/.mcp.json", { "site-docs": { url: "https://docs.example.com/mcp" }, devtools: {} }],
];

const FILES = join(import.meta.dirname, "files");

let root: string;
let home: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "arsenal-"));
  [home, folder] = [join(root, "home"), join(root, "project")];
  await mkdir(folder);
});
afterEach(() => rm(root, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> =>
  runInMemory(["setup", ...argv], { folder, environment: { HOME: home, XDG_CONFIG_HOME: join(home, ".config") } });

async function put(example: string, place: string): Promise<string> {
  const file = join(home, place);
  await mkdir(dirname(file), { recursive: true });
  await copyFile(join(FILES, example), file);
  return file;
}

/** A second client, so that clients share a gateway and get its address. */
async function putSecond(): Promise<void> {
  await mkdir(join(folder, ".roo"), { recursive: true });
  await writeFile(join(folder, ".roo/mcp.json"), '{"mcpServers":{"other":{"command":"other"}}}');
}

/** The text without what differs from machine to machine: how this program is started. */
const portable = (text: string): string =>
  text
    .replaceAll(root, "/ROOT")
    .replaceAll(/("?(?:command|cmd)"?\s*[:=]\s*\[?\s*)"[^"]*(?:node|npx)"/g, '$1"START"')
    .replaceAll(/\n\s*"(?:-[a-z-]+|[^"\n]*(?:main\.ts|main\.js|toolarsenal))",/g, "");

describe("setup --write-clients, on a recorded file of each client", () => {
  it.each(CLIENTS)(
    "replaces the servers of %s and nothing else, and --undo restores the file",
    async (name, place, servers) => {
      const file = await put(name, place);
      const before = await readFile(file, "utf8");
      await putSecond();
      const { code, out } = await run("--write-clients");
      expect(code).toBe(0);
      const { mcpServers } = parse(await readFile(join(folder, "arsenal.yaml"), "utf8")) as { mcpServers: object };
      expect(mcpServers).toMatchObject(servers);
      expect(Object.keys(mcpServers).sort()).toEqual([...Object.keys(servers), "other"].sort());

      const after = await readFile(file, "utf8");
      const extension = extname(name);
      const golden = join(FILES, `${name.slice(0, -extension.length)}.after${extension}`);
      await expect(portable(after)).toMatchFileSnapshot(golden);
      expect(out).not.toMatch(/ghp_0123|0123456789abcdef|hf_abc/);

      expect((await run("--undo")).code).toBe(0);
      expect(await readFile(file, "utf8")).toBe(before);
      expect((await readdir(dirname(file))).filter((each) => each.includes(".bak-"))).toEqual([]);
      expect((await run("--undo")).out).toContain("Nothing to undo");
    },
  );

  it("shows the change before it is written", async () => {
    await put("codex-cli.toml", ".codex/config.toml");
    await putSecond();
    const { out } = await run("--write-clients");
    const [shown = "", written = ""] = out.split("config.toml changed");
    expect(shown).toContain("- [mcp_servers.docs]\n");
    expect(shown).toContain('+ url = "http://127.0.0.1:8080/mcp/toolsets/codex-cli"');
    expect(written).toContain("a copy is kept");
  });

  it("keeps every line outside the removed entries, in its order", async () => {
    for (const [name, place] of CLIENTS) {
      const file = await put(name, place);
      await putSecond();
      const before = await readFile(file, "utf8");
      await run("--write-clients");
      const after = await readFile(file, "utf8");
      for (const comment of before.match(/^\s*(?:\/\/|#|\/\*).*$/gm) ?? []) expect(after).toContain(comment);
      await run("--undo");
      await rm(file);
    }
  });

  it("refuses to undo a file that changed since, names its copy, and restores the others", async () => {
    const changed = await put("cursor.json", ".cursor/mcp.json");
    const other = await put("goose.yaml", ".config/goose/config.yaml");
    const before = await readFile(other, "utf8");
    await run("--write-clients");
    await writeFile(changed, "{}");
    const { code, out } = await run("--undo");
    expect(code).toBe(1);
    expect(out).toMatch(
      /Cursor, ~\/\.cursor\/mcp\.json is left as it is: it changed since setup wrote it\. Compare it with its copy .*\.bak-/,
    );
    expect(await readFile(changed, "utf8")).toBe("{}");
    expect(await readFile(other, "utf8")).toBe(before);
  });

  it("undoes one run at a time, the last one first, and --dry-run restores nothing", async () => {
    const cursor = await put("cursor.json", ".cursor/mcp.json");
    await run("--write-clients");
    const once = await readFile(cursor, "utf8");
    const warp = await put("warp.json", ".warp/.mcp.json");
    const before = await readFile(warp, "utf8");
    await run("--write-clients");
    expect((await run("--undo", "--dry-run")).out).toContain("would be restored");
    expect(await readFile(warp, "utf8")).not.toBe(before);
    await run("--undo");
    expect([await readFile(cursor, "utf8"), await readFile(warp, "utf8")]).toEqual([once, before]);
    await run("--undo");
    expect(await readFile(cursor, "utf8")).toBe(await readFile(join(FILES, "cursor.json"), "utf8"));
  });

  it("leaves a file alone that is written in a way it cannot edit, says so, and goes on with the others", async () => {
    const file = await put("goose.yaml", ".config/goose/config.yaml");
    const text = "extensions: { tracker: { type: stdio, cmd: uvx, args: [tracker] } } # mine\n";
    await writeFile(file, text);
    const cursor = await put("cursor.json", ".cursor/mcp.json");
    const { code, out } = await run("--write-clients");
    expect(code).toBe(0);
    expect(out).toContain("config.yaml is written in a way that setup cannot edit.");
    expect(await readFile(file, "utf8")).toBe(text);
    expect(await readFile(cursor, "utf8")).toContain("toolarsenal");
  });
});

describe("comments and settings around the servers", () => {
  it.each([
    ["codex-cli.toml", ".codex/config.toml", "#"],
    ["goose.yaml", ".config/goose/config.yaml", "#"],
    ["continue.yaml", ".continue/config.yaml", "#"],
    ["zed.json", ".config/zed/settings.json", "//"],
    ["opencode.jsonc", ".config/opencode/opencode.jsonc", "//"],
  ])("stay in %s, byte for byte, and --undo restores the file", async (name, place, mark) => {
    const file = await put(name, place);
    const recorded = await readFile(file, "utf8");
    const [first, last] = [`${mark} Ours, do not touch:  two spaces\n`, `\n${mark} The end, without a line break`];
    const before = first + recorded.trimEnd() + last;
    await writeFile(file, before);
    expect((await run("--write-clients")).code).toBe(0);
    const after = await readFile(file, "utf8");
    expect(after).not.toBe(before);
    expect(after.startsWith(first)).toBe(true);
    expect(after.endsWith(last)).toBe(true);
    expect((await run("--undo")).code).toBe(0);
    expect(await readFile(file, "utf8")).toBe(before);
  });
});
