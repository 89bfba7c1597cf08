import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../test/e2e/terminal.ts";
import { loadConfig } from "../../config/load/load-config.ts";

let root: string;
let home: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "arsenal-"));
  [home, folder] = [join(root, "home"), join(root, "project")];
  await put(join(home, ".cursor/mcp.json"), { mcpServers: { github: { command: "gh" }, files: { command: "fs" } } });
  await put(join(folder, ".vscode/mcp.json"), { servers: { files: { command: "fs" } } });
  await put(join(home, ".codeium/windsurf/mcp_config.json"), { mcpServers: { notes: { command: "notes" } } });
  await put(join(home, ".config/Claude/claude_desktop_config.json"), { mcpServers: { notes: { command: "notes" } } });
});
afterEach(() => rm(root, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> =>
  runInMemory(["setup", "--write-clients", ...argv], {
    folder,
    environment: { HOME: home, XDG_CONFIG_HOME: join(home, ".config") },
  });

async function put(file: string, content: object | string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
}

const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, "utf8"));
const own = async (file: string, key = "mcpServers"): Promise<unknown> =>
  ((await read(file)) as Record<string, Record<string, unknown>>)[key]?.["toolarsenal"];

it("gives each client a toolset with the servers it had, over one address where the client can", async () => {
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out).toContain("share the gateway at http://127.0.0.1:8080.");
  const { config, problems } = await loadConfig(join(folder, "arsenal.yaml"), {});
  expect(problems).toEqual([]);
  expect(config.toolsets.map(({ name, include }) => [name, include])).toEqual([
    ["claude-desktop", { where: { ensembles: ["notes"] } }],
    ["cursor", { where: { ensembles: ["github", "files"] } }],
    ["windsurf", { where: { ensembles: ["notes"] } }],
    ["vs-code-project", { where: { ensembles: ["files"] } }],
  ]);
  const address = "http://127.0.0.1:8080/mcp/toolsets";
  expect(await own(join(home, ".cursor/mcp.json"))).toEqual({ url: `${address}/cursor` });
  expect(await own(join(folder, ".vscode/mcp.json"), "servers")).toEqual({
    type: "http",
    url: `${address}/vs-code-project`,
  });
  expect(await own(join(home, ".codeium/windsurf/mcp_config.json"))).toEqual({ serverUrl: `${address}/windsurf` });
  expect(await own(join(home, ".config/Claude/claude_desktop_config.json"))).toMatchObject({
    args: expect.arrayContaining(["--stdio", "--toolset", "claude-desktop"]) as unknown,
  });
});

it("gives every client the servers of all with --share, and lets each start its own gateway with --stdio", async () => {
  await run("--share", "--stdio");
  const { config } = await loadConfig(join(folder, "arsenal.yaml"), {});
  expect(config.toolsets).toEqual([]);
  const entry = (await own(join(home, ".cursor/mcp.json"))) as { readonly args: readonly string[] };
  expect(entry.args).toContain("--stdio");
  expect(entry.args).not.toContain("--toolset");
});

it("adds a server that a client got later to the client's toolset, and keeps comments and edits", async () => {
  await run();
  const file = join(folder, "arsenal.yaml");
  const text = await readFile(file, "utf8");
  await put(file, text.replace("command: gh", "command: gh # mine\n    args: [mine]"));
  const entry = await own(join(home, ".cursor/mcp.json"));
  await put(join(home, ".cursor/mcp.json"), { mcpServers: { toolarsenal: entry, mail: { command: "mail" } } });
  expect((await run()).code).toBe(0);
  const { config } = await loadConfig(file, {});
  expect(config.mcp.servers.map(({ name }) => name)).toEqual(expect.arrayContaining(["github", "mail"]));
  expect(config.toolsets.find(({ name }) => name === "cursor")?.include).toEqual({
    where: { ensembles: ["github", "files", "mail"] },
  });
  const edited = await readFile(file, "utf8");
  expect(edited).toContain("command: gh # mine\n");
  expect(edited).toMatch(/args: \[ ?mine ?\]/);
  expect(await own(join(home, ".cursor/mcp.json"))).toEqual(entry);
});

it("starts a gateway over stdio if callers must prove who they are", async () => {
  await put(join(folder, "arsenal.yaml"), "server: { auth: { api_keys: { file: keys.json } } }\n");
  await run();
  expect(await own(join(home, ".cursor/mcp.json"))).toMatchObject({
    args: expect.arrayContaining(["--stdio", "--toolset", "cursor"]) as unknown,
  });
});
