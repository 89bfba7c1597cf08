import { existsSync, readFileSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { open } from "../../../../test/e2e/script-files.ts";
import { languagesMissing } from "../../../../test/services/languages.ts";
import { isGroupAlive } from "../../../system/process-group.ts";

// because Python and bash are not installed everywhere; with CI=true their absence fails.
describe.skipIf(languagesMissing() !== undefined)("a call", () => {
  it("that fails shows the end of stderr", async () => {
    await using opened = await open({
      "a.py": 'def one():\n    raise ValueError("no such city")\n',
      "b.ts": 'export function two(): void {\n  throw new Error("no such street");\n}\n',
      "c.sh": '# @describe Three\nthree() { echo "no such house" >&2; return 3; }\n',
    });
    for (const [tool, text] of [
      ["one", "ValueError: no such city"],
      ["two", "Error: no such street"],
      ["three", "It ended with exit code 3.\nno such house"],
    ] as const) {
      const { status, error } = await opened.call(tool);
      expect([status, error?.code, error?.message]).toEqual([
        "failure",
        "EXECUTION_FAILED",
        expect.stringContaining(text),
      ]);
    }
  });

  it("returns the result, whatever the function prints", async () => {
    await using opened = await open({
      "a.py":
        'import os\nasync def one():\n    print("noise")\n    os.system("echo more")\n    return {"a": [1, None, "é"]}\n',
      "b.ts": 'export const two = async () => { console.log("noise"); return { a: [1, null, "é"] }; };',
      "c.sh": `# @describe Three\nthree() { echo noise >&2; echo '{"a":[1,null,"é"]}'; }\n`,
    });
    for (const tool of ["one", "two", "three"]) expect((await opened.call(tool)).result).toEqual({ a: [1, null, "é"] });
  });

  it("gets the environment that the settings name, with secrets, and no other", async () => {
    process.env["SCRIPTS_TEST_KEY"] = "key-0123456789";
    process.env["SCRIPTS_TEST_OTHER"] = "other";
    await using opened = await open(
      {
        "a.py": "import os\ndef one(): return sorted(os.environ)\n",
        "b.js":
          'export const two = () => [process.env.KEY?.length, process.env.SCRIPTS_TEST_OTHER ?? "none", process.cwd()];',
      },
      { env: { KEY: "env:SCRIPTS_TEST_KEY" }, cwd: tmpdir() },
    );
    expect(
      ((await opened.call("one")).result as string[]).filter(
        (name) => !/^(?:_|__.*|PWD|SHLVL|OLDPWD|LC_CTYPE)$/.test(name),
      ),
    ).toEqual(["KEY", "LANG", "PATH", "TOOLARSENAL_JOB"]);
    expect((await opened.call("two")).result).toEqual([14, "none", await realpath(tmpdir())]);
    delete process.env["SCRIPTS_TEST_KEY"];
    delete process.env["SCRIPTS_TEST_OTHER"];
  });

  it("is stopped when its time is up or it prints too much", async () => {
    await using opened = await open(
      { "a.sh": "# @describe Loop\nloop() { while :; do :; done; }\n# @describe Print\nprint_on() { yes; }\n" },
      { timeoutMs: 1_500, maxOutputBytes: 10_000 },
    );
    expect(await opened.call("loop")).toMatchObject({
      status: "timeout",
      error: { message: expect.stringContaining("did not end within 1500 ms") },
    });
    const { error } = await opened.call("print_on");
    expect(error).toMatchObject({ code: "SANDBOX_FAILED", message: expect.stringContaining("more than 10000 bytes") });
  });

  it("that is cancelled leaves no process behind", async () => {
    await using opened = await open({
      "a.sh":
        '# @describe Wait\n# @option --file!\nwait_on() {\n  sleep 1000 &\n  echo $$ > "$argc_file.part"\n  mv "$argc_file.part" "$argc_file"\n  wait\n}\n',
    });
    const stop = new AbortController();
    const file = join(opened.folder, "pid");
    const running = opened.call("wait_on", { file }, stop.signal);
    await until(() => existsSync(file));
    const leader = Number(await readFile(file, "utf8"));
    expect(isGroupAlive(leader)).toBe(true);
    stop.abort();
    expect((await running).status).toBe("cancelled");
    await until(() => !isGroupAlive(leader));
  });

  // because only Linux shows the environment of a process, by which one that left its group is found.
  it.skipIf(process.platform !== "linux")("leaves no process behind that began a session of its own", async () => {
    const escape = (pid: string): string => `setsid sh -c 'echo $$ > ${pid}; exec sleep 1000' > /dev/null 2>&1 &\n`;
    await using opened = await open(
      {
        "a.sh": `# @describe End\nend_soon() { ${escape("ended")}  while [ ! -s ended ]; do :; done; echo 1; }\n# @describe Hang\nhang() { ${escape("hung")}  sleep 1000; }\n`,
      },
      { timeoutMs: 3_000 },
    );
    const pidIn = async (name: string): Promise<number> => Number(await readFile(join(opened.folder, name), "utf8"));
    expect((await opened.call("end_soon")).result).toBe(1);
    expect(isRunning(await pidIn("ended"))).toBe(false);
    expect((await opened.call("hang")).status).toBe("timeout");
    expect(isRunning(await pidIn("hung"))).toBe(false);
  });
});

/** False also for a process that has ended and that its parent has not asked about. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat[stat.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false;
  }
}

/** Waits until something is so, which nothing tells us of. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
