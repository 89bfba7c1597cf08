import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { MAIN } from "../kit/program.ts";
import { runInMemory } from "./terminal.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-unwritable-"));
afterAll(() => rmSync(root, { recursive: true }));

/** A file: no user can make a folder in it, not even root, who may write to read-only folders. */
const file = join(root, "file");
writeFileSync(file, "");
const folder = join(root, "project");
mkdirSync(folder);

/** A folder of the system in which nobody can make files. */
const READ_ONLY = process.platform === "darwin" ? "/System" : "/sys";
const STACK = /^ +at /m;

describe("init", () => {
  it("in a read-only folder says which file it cannot write, and what to do", async () => {
    const { code, out, err } = await runInMemory(["init"], { folder: READ_ONLY });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^toolarsenal failed: Cannot open \/\w+\/arsenal\.yaml: (?:permission denied|.*read-only)\. \w/,
    );
    expect(err).not.toMatch(STACK);
  });

  it("with a file in the place of a folder says so, with --json as data", async () => {
    const { code, err } = await runInMemory(["init", "--config", join(file, "arsenal.yaml"), "--json"], { folder });
    expect(code).toBe(1);
    expect(JSON.parse(err)).toEqual({
      error: {
        code: "STORE_FAILED",
        message: `Cannot open ${join(file, "arsenal.yaml")}: a file is in the place of a folder.`,
        fix: "Check the path.",
      },
    });
  });
});

// because only Linux has /proc; Node's recursive mkdir never returns there.
it.runIf(existsSync("/proc/self"))(
  "names a state file below /proc, where no folder can be made, and its setting",
  () => {
    const config = join(folder, "proc.yaml");
    writeFileSync(config, "state: { file: /proc/toolarsenal/state.db }\n");
    const argv = [MAIN, "pins", "list", "--config", config];
    const { status, stderr } = spawnSync(process.execPath, argv, {
      cwd: folder,
      encoding: "utf8",
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^STORE_FAILED The state file \/proc\/toolarsenal\/state\.db cannot be used: ENOENT.*set state\.file to another file\./,
      ),
    ]);
  },
);

describe("a home folder that cannot be written", () => {
  const home = join(file, "home");
  const env = { PATH: process.env["PATH"], HOME: home, USERPROFILE: home, TOOLARSENAL_TIER: "lexical" };
  const WARNING = `Cannot write to ${home}: tools are embedded again in every run, and approvals end with this process. Set HOME to`;

  function warningsIn(text: string): number {
    return text.split(WARNING).length - 1;
  }

  it.each([
    ["search", "refund an order"],
    ["call", "crm.find_customer", "--args", '{"name":"dana"}'],
  ])("does not stop %s, which warns once", (...argv) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...argv], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    expect([status, warningsIn(stderr)]).toEqual([0, 1]);
    expect(stdout).not.toBe("");
    expect(stderr).not.toMatch(STACK);
  });

  it("does not stop serve, which warns once", async () => {
    const gateway = spawn(process.execPath, [MAIN, "serve", "--port", "0"], { cwd: folder, env });
    let shown = "";
    const { promise: serving, resolve } = Promise.withResolvers<void>();
    for (const stream of [gateway.stdout, gateway.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => {
        shown += part;
        if (shown.includes("Ctrl-C ends it")) resolve();
      });
    const ended = once(gateway, "exit");
    await Promise.race([serving, ended]);
    gateway.kill("SIGINT");
    await ended;
    expect(shown).toContain("Serving MCP at http");
    expect(warningsIn(shown)).toBe(1);
    expect(shown).not.toMatch(STACK);
  });

  it("is no concern of a program that keeps its state and its cache elsewhere", async () => {
    writeFileSync(
      join(folder, "elsewhere.yaml"),
      `state: { file: ${join(root, "state.sqlite")} }\nembedder: { tier: lexical, cache: false }\ntelemetry: { enabled: false }\n`,
    );
    const { code, err } = await runInMemory(["list", "--config", "elsewhere.yaml"], {
      folder,
      environment: env as never,
    });
    expect([code, err]).toEqual([0, "0 tools\n"]);
  });
});
