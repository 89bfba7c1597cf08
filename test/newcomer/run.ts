// Plays a newcomer's first hour with the packed package, on the oldest Node we support and on the current one: install, init,
// every README command, setup from a client's configuration, doctor, serve, approve, and three SDK loops under `tsc --strict`.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { asUserWrites, ROOT, files, read } from "../repo/project.ts";
import { createShell, type Shell } from "./shell.ts";

const { values } = parseArgs({
  options: {
    node: { type: "string", default: "22.19.0,24.21.0" },
    keep: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
  },
});

/** The version of a package that this project has installed. */
function versionOf(name: string): string {
  return (JSON.parse(read(`node_modules/${name}/package.json`)) as { readonly version: string }).version;
}
const { version } = JSON.parse(read("package.json")) as { readonly version: string };

/** What a newcomer has besides ToolArsenal: a compiler, three SDKs and the types they need, two MCP servers. */
const OTHERS = [
  "typescript",
  "@types/node",
  "openai",
  "@anthropic-ai/sdk",
  "ai",
  "zod",
  "@modelcontextprotocol/server-memory",
  "@modelcontextprotocol/server-filesystem",
].map((name) => `${name}@${versionOf(name)}`);
/** The AI SDK's declarations need it, and do not bring it. */
OTHERS.push("@types/json-schema@7.0.15");

const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

const base = mkdtempSync(join(tmpdir(), "newcomer-"));
try {
  const packed = spawnSync("npm", ["pack", "--pack-destination", base, ...(values.built ? ["--ignore-scripts"] : [])], {
    cwd: ROOT,
    encoding: "utf8",
  });
  assert.equal(packed.status, 0, packed.stderr);
  for (const release of values.node.split(",")) await play(release, join(base, `toolarsenal-${version}.tgz`));
  console.log("\nThe newcomer got through.");
} finally {
  if (!values.keep) rmSync(base, { recursive: true, force: true });
}

async function play(release: string, tarball: string): Promise<void> {
  console.log(`\nNode ${release}`);
  const place = join(base, release);
  const [home, project, node] = ["home", "project", "node"].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [home, project, node]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(node, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));

  createShell({ folder: node, home, bin: [] }).run(`npm install --no-audit --no-fund node@${release}`);
  const shell = createShell({
    folder: project,
    home,
    bin: [join(project, "node_modules/.bin"), join(node, "node_modules/.bin")],
  });
  assert.equal(shell.run("node --version").trim(), `v${release}`);
  shell.run(`npm install --no-audit --no-fund ${tarball} ${OTHERS.join(" ")}`);

  await approveOutOfTheBox(shell);
  readmeCommands(shell);
  await setUp(place, home, shell);
  sdkLoops(shell);
}

/** `serve` without any configuration: a call that needs a person waits, the person approves it on the command line, and it runs once. */
async function approveOutOfTheBox(shell: Shell): Promise<void> {
  const gateway = await shell.start("npx toolarsenal serve --port 0", /http:\/\/127\.0\.0\.1:\d+\/mcp/);
  try {
    const client = new Client({ name: "newcomer", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(addressIn(gateway.printed))));
    const found = textOf(
      await client.callTool({ name: "find_relevant_tools", arguments: { query: "refund order 1042" } }),
    );
    assert.match(found, /process_refund/);
    const refund = (): Promise<unknown> =>
      client.callTool({
        name: "execute_tool",
        arguments: { tool_name: "billing-process_refund", arguments: { order_id: "1042" } },
      });
    const waiting = textOf(await refund());
    const command = /toolarsenal approvals approve [\w-]+[^\n.`"]*/.exec(waiting)?.[0];
    assert.ok(command, `The answer names no command that approves the call:\n${waiting}`);
    assert.match(shell.run("npx toolarsenal approvals list"), /process_refund/);
    shell.run(`npx ${command}`);
    assert.match(textOf(await refund()), /refunded/);
    assert.match(textOf(await refund()), /approve/, "An approval is good for one call.");
    await client.close();
  } finally {
    await gateway.stop();
  }
}

/** Every `npx toolarsenal` line of the README works in a folder that `init` has filled; `setup` and `serve` have parts of their own here, and `benchmark` fails on a busy machine. */
function readmeCommands(shell: Shell): void {
  shell.run("npx toolarsenal init");
  const lines = [...read("README.md").matchAll(/^npx toolarsenal (?!setup|serve|init|benchmark)[^#\n]*/gm)].map(
    ([line]) => line.trim(),
  );
  assert.ok(lines.length >= 8, `README has only ${lines.length} commands.`);
  for (const line of lines) shell.run(line);
}

/** Servers that worked in a client's configuration work after `setup`, and their secrets are no longer in a file others can read. */
async function setUp(place: string, home: string, { folder: installed }: Shell): Promise<void> {
  const folder = join(place, "set-up");
  mkdirSync(folder);
  const server = (name: string): string => join(installed, "node_modules/@modelcontextprotocol", name, "dist/index.js");
  mkdirSync(join(home, ".cursor"), { recursive: true });
  writeFileSync(
    join(home, ".cursor/mcp.json"),
    JSON.stringify({
      mcpServers: {
        memory: {
          command: "node",
          args: [server("server-memory")],
          env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl"), GITHUB_TOKEN: SECRET },
        },
        files: { command: "node", args: [server("server-filesystem"), folder] },
      },
    }),
  );
  const shell = createShell({
    folder,
    home,
    bin: [join(installed, "node_modules/.bin"), join(place, "node/node_modules/.bin")],
  });
  shell.run("toolarsenal setup --dry-run");
  shell.run("toolarsenal setup");
  assert.ok(!readFileSync(join(folder, "arsenal.yaml"), "utf8").includes(SECRET));
  shell.run("toolarsenal doctor");
  assert.match(shell.run('toolarsenal search "remember that Anna likes tea"'), /memory\.\w+/);
}

/** The examples of the three SDKs compile as a newcomer would write them, and run. */
function sdkLoops(shell: Shell): void {
  const agents = files("examples/*-agent.ts");
  assert.equal(agents.length, 3);
  for (const path of files("examples/**/*.ts")) {
    const target = join(shell.folder, path);
    mkdirSync(join(target, ".."), { recursive: true });
    writeFileSync(target, asUserWrites(read(path)));
  }
  writeFileSync(
    join(shell.folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2024",
        module: "nodenext",
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        allowImportingTsExtensions: true,
      },
      files: agents,
    }),
  );
  shell.run("npx tsc");
  for (const path of agents) shell.run(`node ${path}`);
}

function addressIn(printed: string): string {
  return /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed)?.[0] ?? "";
}

function textOf(result: unknown): string {
  const { content } = result as { readonly content: readonly { readonly text?: string }[] };
  return content.map(({ text = "" }) => text).join("\n");
}
