import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { MAIN } from "../kit/program.ts";
import { startKeyedGateway } from "./rest/keyed-gateway.ts";

const CONFIG = `
builtins: { tools: [file-read, file-write], files: { roots: [.] } }
security: { policy_file: rules.yaml }
state: { file: kept/state.sqlite }
audit: { file: kept/audit.jsonl }
server: { auth: { api_keys: { file: keys.json } } }
modules: [./tools.mjs]
scripts: [{ name: jobs, paths: [./jobs] }]
ensembles: [./descriptors/*.toml]
mcpServers: { mine: { command: node, args: [./server.cjs] } }
llm: { type: openai, model: m, api_key: "file:HERE/secrets/openai" }
`;

/** Everything the gateway of this configuration is made of, and what it would read at the next start. */
const OWN = [
  "arsenal.yaml",
  ".env",
  "rules.yaml",
  "kept/state.sqlite",
  "kept/state.sqlite-wal",
  "kept/audit.jsonl",
  "kept/audit.jsonl.key",
  "keys.json",
  "tools.mjs",
  "other.mjs",
  "jobs/run.py",
  "jobs/new.sh",
  "descriptors/mail.toml",
  "server.cjs",
  "secrets/openai",
  "node_modules/left-pad/index.js",
  ".toolarsenal/anything",
];

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "own-files-")));
  for (const name of ["kept", "jobs", "descriptors", "secrets"]) mkdirSync(join(folder, name));
  const files = {
    "arsenal.yaml": CONFIG.replace("HERE", folder),
    "rules.yaml": "version: 1\nrules: [{ id: all, effect: allow, tools: ['*'] }]\n",
    "tools.mjs": "export default () => {};\n",
    "server.cjs": "process.exit(1);\n",
    "secrets/openai": "sk-planted",
    "notes.txt": "hello",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("file tools whose root is the folder of the configuration", () => {
  it("neither read nor write what the gateway is made of, and still use other files", async () => {
    await using arsenal = await ToolArsenal.fromConfig(join(folder, "arsenal.yaml"));
    const run = (toolName: string, path: string) =>
      arsenal.execute({ toolName, arguments: { path, ...(toolName === "file_write" && { content: "mine" }) } });
    for (const path of OWN) {
      const before = existsSync(join(folder, path));
      for (const tool of ["file_read", "file_write"]) {
        const { status, error } = await run(tool, path);
        expect([path, tool, status, error?.code]).toEqual([path, tool, "permission_denied", "PERMISSION_DENIED"]);
      }
      expect(existsSync(join(folder, path))).toBe(before);
    }
    expect((await run("file_read", "notes.txt")).result).toMatchObject({ content: "hello" });
    expect((await run("file_write", "report.md")).status).toBe("success");
  });

  it("are named by doctor", () => {
    const { stdout } = spawnSync(
      process.execPath,
      [MAIN, "doctor", "--json", "--config", join(folder, "arsenal.yaml")],
      {
        encoding: "utf8",
      },
    );
    expect(stdout).toContain(`${folder} contains the gateway's own files: arsenal.yaml`);
  });
});

describe("a caller of a started gateway whose file tools have a root around its own files", () => {
  it("neither reads the key of the audit log nor writes what the next start would run", async () => {
    const gateway = await startKeyedGateway({
      settings: {
        builtins: { tools: ["file-read", "file-write"], files: { roots: [folder] } },
        audit: { file: join(folder, "kept/audit.jsonl") },
        state: { file: join(folder, "kept/state.sqlite") },
        modules: [join(folder, "tools.mjs")],
      },
    });
    try {
      const run = async (toolName: string, path: string) => {
        const args = { path: join(folder, path), ...(toolName === "file_write" && { content: "mine" }) };
        return (await gateway.ask("guest", "POST", "/api/v1/execute", { toolName, arguments: args })).body;
      };
      expect((await run("file_read", "notes.txt")).result).toMatchObject({ content: "hello" });
      for (const path of ["kept/audit.jsonl.key", "kept/audit.jsonl", "kept/state.sqlite", "tools.mjs"])
        expect([path, (await run("file_read", path)).error?.code]).toEqual([path, "PERMISSION_DENIED"]);
      await run("file_write", "tools.mjs");
      expect(readFileSync(join(folder, "tools.mjs"), "utf8")).toBe("export default () => {};\n");
    } finally {
      await gateway.close();
    }
  });
});
