import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { ToolArsenal } from "../../src/index.ts";
import { read } from "../repo/project.ts";
import { type Ran, runInMemory } from "./terminal.ts";

const TINY = fileURLToPath(new URL("tiny-server.ts", import.meta.url));

let root: string;
let folder: string;
let environment: Record<string, string>;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "arsenal-init-"));
  folder = join(root, "project");
  await mkdir(folder);
  await mkdir(join(root, "home/.cursor"), { recursive: true });
  environment = { HOME: join(root, "home"), XDG_CONFIG_HOME: join(root, "home/.config") };
  const tiny = { command: process.execPath, args: [TINY] };
  await writeFile(join(root, "home/.cursor/mcp.json"), JSON.stringify({ mcpServers: { tiny } }));
});
afterEach(() => rm(root, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder, environment });

/** The pages whose commands work in a folder that `init` has filled. */
const COMMAND_PAGES = ["README.md", "docs/start/tour.md"];

/** Every `npx toolarsenal …` of their shell blocks, in order, split as a shell would. */
function readmeCommands(): readonly (readonly string[])[] {
  const blocks = [
    ...COMMAND_PAGES.map(read)
      .join("\n")
      .matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```/gm),
  ].map(([, text = ""]) => text);
  return blocks
    .flatMap((block) => block.split("\n"))
    .flatMap((line) => line.split("&&"))
    .map((line) => /^(?:\$ )?npx (?:-y )?toolarsenal (.*)$/.exec(line.trim())?.[1])
    .filter((line) => line !== undefined)
    .map((line) =>
      Array.from(line.matchAll(/'([^']*)'|"([^"]*)"|(#.*$)|(\S+)/g), ([, single, double, comment, bare]) =>
        comment === undefined ? (single ?? double ?? bare ?? "") : undefined,
      ).filter((word) => word !== undefined),
    );
}

/** Serves until it says where, then interrupts it. */
async function serveOnce(argv: readonly string[]): Promise<Ran> {
  const interrupted = new AbortController();
  const text = { out: "", err: "" };
  const code = await runCli([...argv, "--port", "0"], {
    out: { write: (part) => (text.out += part) },
    err: {
      write(part) {
        text.err += part;
        if (text.err.includes("Serving MCP at")) interrupted.abort();
      },
    },
    folder,
    environment,
    signal: interrupted.signal,
  });
  return { code, ...text };
}

describe("toolarsenal init", () => {
  it("writes what every command of the README needs in a fresh folder", async () => {
    expect((await run("init")).code).toBe(0);
    const commands = readmeCommands();
    expect(commands.length).toBeGreaterThan(5);
    const ended: Record<string, number | string> = {};
    for (const argv of commands) {
      const [name = ""] = argv;
      // because it measures this machine for a minute, whatever the folder has
      if (name === "benchmark") continue;
      const { code, err } = name === "serve" ? await serveOnce(argv) : await run(...argv);
      ended[argv.join(" ")] = code === 0 ? code : err;
    }
    expect(ended).toEqual(Object.fromEntries(Object.keys(ended).map((command) => [command, 0])));
  });

  it("writes a configuration that doctor finds no fault with, and setup adds to", async () => {
    await run("init");
    expect((await run("setup")).code).toBe(0);
    const { code, out } = await run("doctor", "--running", "--json");
    const { findings } = JSON.parse(out) as { readonly findings: readonly { check: string; state: string }[] };
    expect(findings.filter(({ state }) => state !== "ok")).toEqual([]);
    expect(findings.map(({ check }) => check)).toContain("tiny");
    expect(code).toBe(0);
  });

  it("writes the same tools for the arsenal and for eval", async () => {
    await run("init");
    await using arsenal = await ToolArsenal.fromConfig(join(folder, "arsenal.yaml"), { environment });
    const registered = (await arsenal.listTools()).map(({ id }) => id);
    const lines = (await readFile(join(folder, "tools.jsonl"), "utf8")).trim().split("\n");
    const ids = lines.map((line) => (JSON.parse(line) as { readonly id: string }).id);
    expect(ids.toSorted()).toEqual(registered.toSorted());
    const queries = (await readFile(join(folder, "queries.jsonl"), "utf8")).trim().split("\n");
    const relevant = queries.flatMap((line) => (JSON.parse(line) as { readonly relevant: readonly string[] }).relevant);
    expect(relevant.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it("keeps every file that is there and says so; --force replaces it and keeps a copy", async () => {
    await writeFile(join(folder, "policy.yaml"), "mine\n");
    const { code, out } = await run("init");
    expect(code).toBe(0);
    expect(out).toMatch(/^kept +policy\.yaml/m);
    expect(out).toMatch(/^created +arsenal\.yaml/m);
    expect(await readFile(join(folder, "policy.yaml"), "utf8")).toBe("mine\n");
    const forced = JSON.parse((await run("init", "--force", "--json")).out) as { readonly files: readonly object[] };
    expect(forced.files).toContainEqual(
      expect.objectContaining({
        file: "policy.yaml",
        action: "replaced",
        backup: expect.stringMatching(/^policy\.yaml\.bak-/),
      }),
    );
    expect(forced.files).toContainEqual(expect.objectContaining({ file: "arsenal.yaml", action: "kept" }));
    expect(await readFile(join(folder, "policy.yaml"), "utf8")).toContain("version: 1");
    const [backup = ""] = (await readdir(folder)).filter((name) => name.startsWith("policy.yaml.bak-"));
    expect(await readFile(join(folder, backup), "utf8")).toBe("mine\n");
  });

  it("--dry-run lists the files and writes none", async () => {
    const dry = JSON.parse((await run("init", "--dry-run", "--json")).out) as { readonly files: readonly object[] };
    expect(await readdir(folder)).toEqual([]);
    const real = JSON.parse((await run("init", "--json")).out) as { readonly files: readonly object[] };
    expect(dry.files).toEqual(real.files);
    expect((await stat(join(folder, ".toolarsenal"))).mode & 0o777).toBe(0o700);
  });
});
