import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markedProcesses } from "../../../../test/e2e/open-descriptors.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SANDBOX_LIMITS, type SandboxJob, type SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { sandboxContract } from "../../../testing/sandbox.contract.ts";
import { subprocessSandbox } from "./subprocess.ts";

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const script = (code: string, more: Partial<SandboxJob> = {}): Promise<SandboxOutcome> =>
  subprocessSandbox().run({ kind: "javascript", code, limits: SANDBOX_LIMITS, ...more } as SandboxJob);

const shell = (text: string, more: Partial<SandboxJob> = {}): Promise<SandboxOutcome> =>
  subprocessSandbox().run({ kind: "command", argv: ["sh", "-c", text], limits: SANDBOX_LIMITS, ...more } as SandboxJob);

describe("subprocess", () => {
  for (const { name, run } of sandboxContract(() => ({ adapter: subprocessSandbox() }))) it(name, run);

  it("hands on nothing of our environment but what the job names", async () => {
    process.env["SANDBOX_TEST_SECRET"] = "s3cret";
    try {
      const job = { env: { GIVEN: "1" } };
      const { result } = await script("return Object.keys(process.env).sort();", job);
      expect(result).toEqual(["GIVEN", "LANG", "PATH", "PWD", "TOOLARSENAL_JOB"]);
      expect((await shell("env", job)).stdout).not.toContain("s3cret");
    } finally {
      delete process.env["SANDBOX_TEST_SECRET"];
    }
  });

  it("lets JavaScript read and write what the job names, and nothing beside it", async () => {
    writeFileSync(join(folder, "given.txt"), "given");
    const other = mkdtempSync(join(tmpdir(), "sandbox-other-"));
    writeFileSync(join(other, "other.txt"), "other");
    const read = `return require("node:fs").readFileSync(input, "utf8");`;
    const write = `return require("node:fs").writeFileSync(input, "new");`;
    const denied = { status: "failed", reason: expect.stringContaining("Access to this API has been restricted") };
    try {
      const given = join(folder, "given.txt");
      expect(await script(read, { input: given, read: [folder] })).toMatchObject({ status: "ok", result: "given" });
      expect(await script(read, { input: given, write: [folder] })).toMatchObject({ status: "ok", result: "given" });
      expect(await script(read, { input: given })).toMatchObject(denied);
      expect(await script(read, { input: join(other, "other.txt"), read: [folder] })).toMatchObject(denied);
      expect(await script(write, { input: given, read: [folder] })).toMatchObject(denied);
      expect(await script(write, { input: join(other, "x"), write: [folder] })).toMatchObject(denied);
      expect(await script(write, { input: given, write: [folder] })).toMatchObject({ status: "ok" });
      expect(readFileSync(given, "utf8")).toBe("new");
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  it.each([
    ["a program", 'require("node:child_process").spawnSync("true")'],
    ["a thread", 'new (require("node:worker_threads").Worker)("0", { eval: true })'],
    ["a foreign library", 'process.dlopen({ exports: {} }, "/x.node")'],
    ["the inspector", 'require("node:inspector").open(0)'],
  ])("lets JavaScript start no such thing as %s", async (_what, code) => {
    expect(await script(`${code}; return "through";`)).toMatchObject({ status: "failed" });
  });

  it("ends a program at the limit of its computing time", async () => {
    const limits = { ...SANDBOX_LIMITS, cpuMs: 1_000 };
    expect(await script("for (;;);", { limits })).toMatchObject({
      status: "killed",
      reason: "It was ended by SIGKILL, as happens at a limit.",
    });
    expect(await shell("while :; do :; done", { limits })).toMatchObject({ status: "killed" });
  });

  it("refuses memory beyond the limit, on the heap and beside it [002-sandbox-memory]", async () => {
    const heap = 'const kept = []; for (;;) kept.push("x".repeat(1_000_000) + kept.length);';
    expect(await script(heap)).toMatchObject({ status: "killed" });
    const beside = "return Buffer.alloc(1_500_000_000, 1).length;";
    expect(await script(beside)).toMatchObject({
      status: "failed",
      reason: expect.stringMatching(/^RangeError: .*alloc/),
    });
  });

  it("writes no file above the limit of memory", async () => {
    const limits = { ...SANDBOX_LIMITS, memoryBytes: 1024 * 1024 };
    const { status } = await shell("head -c 3000000 /dev/zero > big", { write: [folder], limits });
    expect(status).not.toBe("ok");
    expect(readFileSync(join(folder, "big")).length).toBe(1024 * 1024);
  });

  it("ends what a program started, when it ends and when its time is up", async () => {
    const limits = { ...SANDBOX_LIMITS, timeoutMs: 500 };
    const mark = randomUUID();
    const env = { MARK: mark };
    expect(await shell("sleep 61 & echo left behind", { env })).toMatchObject({ status: "ok" });
    expect(markedProcesses(mark)).toEqual([]);
    expect(await shell("sleep 61 & sleep 62", { env, limits })).toMatchObject({ status: "timeout" });
    expect(markedProcesses(mark)).toEqual([]);
  });

  it("does not wait for a process that left the group and holds its output", async () => {
    const mark = randomUUID();
    try {
      const leave = `require("child_process").spawn("sleep", ["63"], { detached: true, stdio: "inherit" }).unref(); console.log("done");`;
      const { stdout, status } = await subprocessSandbox().run({
        kind: "command",
        argv: [process.execPath, "--eval", leave],
        env: { MARK: mark },
        limits: { ...SANDBOX_LIMITS, memoryBytes: 768 * 1024 * 1024 },
      });
      expect({ stdout, status }).toEqual({ stdout: "done\n", status: "ok" });
    } finally {
      for (const pid of markedProcesses(mark)) process.kill(pid, "SIGKILL");
    }
  });

  it("keeps what was printed before the end", async () => {
    const limits = { ...SANDBOX_LIMITS, outputBytes: 4 };
    expect(await shell("echo 123456789; sleep 60", { limits })).toMatchObject({ status: "killed", stdout: "1234" });
  });

  it("says which program cannot be started", async () => {
    const job = { kind: "command", argv: ["no-such-program"], limits: SANDBOX_LIMITS } as const;
    const { status, stderr, exitCode } = await subprocessSandbox().run(job);
    expect({ status, exitCode }).toEqual({ status: "failed", exitCode: 127 });
    expect(stderr).toContain("no-such-program");
  });
});
