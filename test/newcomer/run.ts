// Plays a newcomer's first hour with the packed package, on the oldest Node we support and on the current one: the three start pages, install, init,
// every README command, setup from a client's configuration, doctor, serve, approve, three SDK loops under `tsc --strict`, a team in strict
// mode, states that doctor must find, and a company's proxy.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, read } from "../repo/project.ts";
import { asATeam } from "./as-a-team.ts";
import { approveOutOfTheBox, readmeCommands, sdkLoops, setUp } from "./first-hour.ts";
import { illnesses } from "./illnesses.ts";
import { inACompany } from "./in-a-company.ts";
import { type Place, versionOf } from "./place.ts";
import { createShell } from "./shell.ts";
import { startPages } from "./start-pages.ts";

const { values } = parseArgs({
  options: {
    node: { type: "string", default: "22.19.0,24.21.0" },
    keep: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
    /** Only the parts whose name contains this. */
    only: { type: "string", default: "" },
  },
});

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

const PARTS = [startPages, approveOutOfTheBox, readmeCommands, setUp, sdkLoops, asATeam, illnesses, inACompany];

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
  const folder = join(base, release);
  const [home, project, node] = ["home", "project", "node"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [home, project, node]) mkdirSync(made, { recursive: true });
  writeFileSync(join(node, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));

  await createShell({ folder: node, home, bin: [] }).run(`npm install --no-audit --no-fund node@${release}`);
  const programs = join(node, "node_modules/.bin");
  const shell = createShell({ folder: project, home, bin: [join(project, "node_modules/.bin"), programs] });
  assert.equal((await shell.run("node --version")).trim(), `v${release}`);
  await shell.run(`npm install --no-audit --no-fund ${tarball} ${OTHERS.join(" ")}`);

  const place: Place = { folder, home, tarball, node: programs, shell };
  for (const part of PARTS) {
    if (!part.name.includes(values.only)) continue;
    console.log(`\n${part.name}, Node ${release}`);
    await part(place);
  }
}
