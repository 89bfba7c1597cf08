import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { MAIN } from "../kit/program.ts";

const folder = mkdtempSync(join(tmpdir(), "arsenal-"));
afterAll(() => rmSync(folder, { recursive: true }));

function run(...argv: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...argv], { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("the program", () => {
  it("runs the demo in an empty folder and ends by itself", () => {
    const { status, stdout, stderr } = run("demo");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("circuit_open");
    expect(stdout).not.toContain("\u001B[");
  });

  it("shows the whole path and then serves it, as npm start starts it", async () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      readonly scripts: { readonly start: string };
    };
    const root = fileURLToPath(new URL("../..", import.meta.url));
    // In a group of its own, which is what Ctrl-C interrupts.
    const started = spawn("sh", ["-c", `${scripts.start} --port 0`], { cwd: root, detached: true });
    let shown = "";
    const { promise: serving, resolve } = Promise.withResolvers<void>();
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => {
        shown += part;
        if (shown.includes("Ctrl-C ends it")) resolve();
      });
    const ended = once(started, "exit");
    await Promise.race([serving, ended]);
    if (started.exitCode === null) process.kill(-(started.pid ?? 0), "SIGINT");
    await ended;
    expect(shown).toMatch(/1 {2}register[^]*6 {2}protect[^]*Serving MCP at http/);
  });

  it("writes data to stdout and everything else to stderr", () => {
    const { status, stdout, stderr } = run("list", "--json");
    expect([status, stderr]).toEqual([0, ""]);
    expect((JSON.parse(stdout) as unknown[]).length).toBeGreaterThan(40);
    const wrong = run("lst");
    expect([wrong.status, wrong.stdout, wrong.stderr]).toEqual([
      2,
      "",
      'INPUT_INVALID There is no command "lst". Did you mean "list"?\n',
    ]);
  });

  it("exits 1 where the call failed", () => {
    expect(run("call", "crm.nobody").status).toBe(1);
  });

  /** Starts the program and interrupts it once it has said "ready". */
  async function interrupt(argv: readonly string[]): Promise<{ code: number | null; stderr: string }> {
    const child = spawn(process.execPath, argv, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    let isSent = false;
    child.stderr.on("data", (part: Buffer) => {
      stderr += part.toString();
      if (!stderr.includes("ready") || isSent) return;
      isSent = true;
      child.kill("SIGINT");
    });
    const [code] = (await once(child, "exit")) as [number | null];
    return { code, stderr };
  }

  it("ends promptly on Ctrl-C in the middle of its work, with 130 and without a stack", async () => {
    const ready = `setTimeout(() => process.stderr.write("ready"), 700).unref()`;
    const argv = ["--import", `data:text/javascript,${encodeURIComponent(ready)}`, MAIN];
    const ended = await interrupt([...argv, "benchmark", "--tools", "1000000", "--quick"]);
    expect([ended.code, ended.stderr]).toEqual([130, "ready"]);
  });

  it("ends promptly on Ctrl-C while a tool hangs that does not listen", async () => {
    const module = `export default (arsenal) => arsenal.register(
      { name: "hang", description: "Never comes back.", parameters: { type: "object" } },
      () => { process.stderr.write("ready"); return new Promise((resolve) => setTimeout(resolve, 1e9)); });`;
    writeFileSync(join(folder, "hang.mjs"), module);
    writeFileSync(join(folder, "hang.yaml"), "modules: [hang.mjs]\n");
    const ended = await interrupt([MAIN, "call", "hang", "--json", "--config", "hang.yaml"]);
    expect([ended.code, ended.stderr]).toEqual([130, "ready"]);
  });

  it("says nothing where its reader goes away", async () => {
    const child = spawn(process.execPath, [MAIN, "list", "--json"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (part: Buffer) => (stderr += part.toString()));
    child.stdout.destroy();
    const [code] = (await once(child, "exit")) as [number | null];
    expect([code, stderr]).toEqual([0, ""]);
  });
});
