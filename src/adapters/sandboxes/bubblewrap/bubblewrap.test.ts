import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { markedProcesses } from "../../../../test/e2e/open-descriptors.ts";
import { SANDBOX_LIMITS, type SandboxJob, type SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { sandboxContract } from "../../../testing/sandbox.contract.ts";
import { bubblewrapArguments, bubblewrapSandbox } from "./bubblewrap.ts";

const works = await bubblewrapSandbox().available();
const isInstalled = works === true || !works.includes("cannot be started");
if (works !== true) process.stderr.write(`Tests of bubblewrap do not run: ${works}\n`);

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shell = (text: string, more: Partial<SandboxJob> = {}): Promise<SandboxOutcome> =>
  bubblewrapSandbox().run({ kind: "command", argv: ["sh", "-c", text], limits: SANDBOX_LIMITS, ...more } as SandboxJob);

describe("bubblewrap", () => {
  // because only CI promises that an installed bubblewrap works.
  it.skipIf(process.env["CI"] === undefined || !isInstalled)("works where it is installed", () => {
    expect(works).toBe(true);
  });

  it("says what to install where it is not there", async () => {
    const absent = bubblewrapSandbox({ program: join(folder, "bwrap") });
    expect(await absent.available()).toContain("apt-get install bubblewrap");
    const job = { kind: "javascript", code: "return 1;", limits: SANDBOX_LIMITS } as const;
    await expect(absent.run(job)).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
  });

  it("says what the system forbids, and runs nothing", async () => {
    const program = join(folder, "bwrap");
    writeFileSync(program, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
    chmodSync(program, 0o755);
    const forbidden = bubblewrapSandbox({ program });
    expect(await forbidden.available()).toContain("bwrap: No permissions to create new namespace");
    const job = { kind: "command", argv: ["true"], limits: SANDBOX_LIMITS } as const;
    await expect(forbidden.run(job)).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
  });

  it("names every wall it builds", () => {
    const job = { read: ["/data"], write: ["/out"], limits: { ...SANDBOX_LIMITS, memoryBytes: 1000 } };
    expect(bubblewrapArguments(job, ["/no-such-folder"]).join(" ")).toBe(
      "--unshare-all --unshare-user --disable-userns --cap-drop ALL --die-with-parent --new-session --proc /proc --remount-ro /proc --dev /dev " +
        "--size 1000 --tmpfs /dev/shm --remount-ro /dev --size 1000 --tmpfs /tmp " +
        "--ro-bind /data /data --bind /out /out --remount-ro / --chdir /out --",
    );
    expect(bubblewrapArguments({ ...job, network: true }, [])).toContain("--share-net");
  });
});

// because bubblewrap is not on every machine; why is printed above.
describe.skipIf(works !== true)("bubblewrap, where it works", () => {
  for (const { name, run } of sandboxContract(() => ({ adapter: bubblewrapSandbox() }))) it(name, run);

  it("shows programs, libraries and what the job names, and nothing else", async () => {
    const { stdout } = await shell("ls -a / /tmp; cat /etc/passwd; ls /home");
    expect(stdout.split("\n").filter((name) => ["etc", "home", "root", "var"].includes(name))).toEqual([]);
  });

  it("lets a job write where it may, and nowhere else", async () => {
    writeFileSync(join(folder, "given.txt"), "given");
    const { stdout, stderr } = await shell(
      `cat given.txt; echo new > given.txt; for f in /x /usr/x /dev/x /proc/sys/kernel/ns_last_pid /proc/self/comm; do echo x > $f; done`,
      { write: [folder] },
    );
    expect(stdout).toBe("given");
    expect(stderr.trim().split("\n")).toHaveLength(5);
    expect(readFileSync(join(folder, "given.txt"), "utf8")).toBe("new\n");
    const readOnly = await shell(`cat ${folder}/given.txt && echo x > ${folder}/given.txt`, { read: [folder] });
    expect(readOnly).toMatchObject({ status: "failed", stdout: "new\n" });
  });

  it.each(["/tmp", "/dev/shm"])("counts files in %s as memory, and forgets them", async (place) => {
    const limits = { ...SANDBOX_LIMITS, memoryBytes: 4 * 1024 * 1024 };
    const text = `for i in 1 2 3; do head -c 3000000 /dev/zero > ${place}/f$i || exit 1; done`;
    expect(await shell(text, { limits })).toMatchObject({ status: "failed" });
    expect(existsSync(join(place, "f1"))).toBe(false);
  });

  it("has no capabilities, whoever runs it, and can get none", async () => {
    const { stdout } = await shell(
      "grep -E 'CapEff|CapPrm|CapBnd|NoNewPrivs' /proc/self/status; unshare --user echo made",
    );
    expect(stdout.replaceAll("\t", " ").trim().split("\n")).toEqual([
      "CapPrm: 0000000000000000",
      "CapEff: 0000000000000000",
      "CapBnd: 0000000000000000",
      "NoNewPrivs: 1",
    ]);
  });

  it("sees no process but its own, and leaves none behind", async () => {
    const mark = randomUUID();
    const env = { MARK: mark };
    const seen = await shell("ls /proc | grep -c '^[0-9]'", { env });
    expect(Number(seen.stdout)).toBeLessThan(8);
    expect(await shell("setsid sleep 61 > /dev/null 2>&1 & echo done", { env })).toMatchObject({ status: "ok" });
    const limits = { ...SANDBOX_LIMITS, timeoutMs: 500 };
    expect(await shell("setsid sleep 62 & sleep 63", { env, limits })).toMatchObject({ status: "timeout" });
    expect(markedProcesses(mark)).toEqual([]);
  });

  it("keeps the values of variables out of the list of processes", async () => {
    const { stdout } = await shell("tr '\\0' ' ' < /proc/1/cmdline; echo $SECRET", { env: { SECRET: "s3cret-value" } });
    expect(stdout.match(/s3cret-value/g)).toHaveLength(1);
  });
});
