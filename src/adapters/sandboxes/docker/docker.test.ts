import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SANDBOX_LIMITS } from "../../../execute/sandbox.port.ts";
import { sandboxContract } from "../../../testing/sandbox.contract.ts";
import { dockerArguments, dockerSandbox } from "./docker.ts";

const works = await dockerSandbox().available();
if (works !== true) process.stderr.write(`Tests of docker against an engine do not run: ${works}\n`);

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A command line that writes down what it is told and, told to run something, runs it here. */
function fakeEngine({ info = 0, run = "" }: { readonly info?: number; readonly run?: string } = {}): string {
  const program = join(folder, "docker");
  const text = `#!/bin/sh
echo "$*" >> ${folder}/calls
case $1 in
  info) echo "Is the engine running?" >&2; exit ${info};;
  run) ${run}
    while [ "$1" != image-name ]; do shift; done; shift
    [ "$1" = node ] && { shift; exec ${process.execPath} "$@"; }
    exec "$@";;
esac
`;
  writeFileSync(program, text);
  chmodSync(program, 0o755);
  return program;
}

const calls = (): readonly string[] => readFileSync(join(folder, "calls"), "utf8").trim().split("\n");

describe("docker", () => {
  it("names every wall it builds, and no value of a variable [000-5.4-docker]", () => {
    const job = {
      kind: "command",
      read: ["/data"],
      write: ["/out"],
      env: { TOKEN: "s3cret" },
      limits: { ...SANDBOX_LIMITS, memoryBytes: 1000, cpuMs: 1500 },
    } as const;
    const names = { image: "image-name", name: "job-1", user: "65534:65534" };
    expect(dockerArguments(job, names).join(" ")).toBe(
      "run --rm --interactive --name job-1 --pull never --init --network none --read-only " +
        "--tmpfs /tmp:rw,noexec,nosuid,nodev,size=1000 --memory 1000 --memory-swap 1000 --cpus 1 --pids-limit 128 " +
        "--ulimit cpu=2 --ulimit core=0 --cap-drop ALL --security-opt no-new-privileges --user 65534:65534 " +
        "--volume /data:/data:ro --volume /out:/out --workdir /out --env TOKEN image-name",
    );
    expect(dockerArguments({ ...job, network: true }, names).join(" ")).toContain("--network bridge");
  });

  it("says which part is missing", async () => {
    const engine = fakeEngine({ info: 1 });
    expect(await dockerSandbox({ program: engine }).available()).toContain("Is the engine running");
    expect(await dockerSandbox({ program: join(folder, "nothing") }).available()).toContain("cannot be started");
  });

  it("runs code and commands through the command line [000-5.4-docker]", async () => {
    const sandbox = dockerSandbox({ program: fakeEngine(), image: "image-name" });
    expect(await sandbox.available()).toBe(true);
    const job = { kind: "javascript", code: "return input + 1;", input: 1, limits: SANDBOX_LIMITS } as const;
    expect(await sandbox.run(job)).toMatchObject({ status: "ok", result: 2 });
    const command = { kind: "command", argv: ["sh", "-c", "echo $TOKEN"], env: { TOKEN: "s3cret" } } as const;
    expect(await sandbox.run({ ...command, limits: SANDBOX_LIMITS })).toMatchObject({ stdout: "s3cret\n" });
    expect(calls().join("\n")).not.toContain("s3cret");
  });

  it("removes the container of a job whose time is up, since it is not our child", async () => {
    const sandbox = dockerSandbox({ program: fakeEngine(), image: "image-name" });
    const limits = { ...SANDBOX_LIMITS, timeoutMs: 500 };
    const outcome = await sandbox.run({ kind: "command", argv: ["sleep", "61"], limits });
    expect(outcome.status).toBe("timeout");
    const [run = "", remove] = calls();
    expect(remove).toBe(`rm --force ${/--name (\S+)/.exec(run)?.[1]}`);
  });

  it("tells a container that did not start from code that failed", async () => {
    const run = "echo 'docker: no such image.' >&2; exit 125";
    const sandbox = dockerSandbox({ program: fakeEngine({ run }), image: "image-name" });
    const job = { kind: "command", argv: ["true"], limits: SANDBOX_LIMITS } as const;
    await expect(sandbox.run(job)).rejects.toMatchObject({
      code: "SANDBOX_FAILED",
      message: expect.stringContaining("docker: no such image"),
    });
  });

  it("reads the exit code of a killed container", async () => {
    const sandbox = dockerSandbox({ program: fakeEngine(), image: "image-name" });
    const job = { kind: "command", argv: ["sh", "-c", "exit 137"], limits: SANDBOX_LIMITS } as const;
    expect(await sandbox.run(job)).toMatchObject({ status: "killed", reason: expect.stringContaining("signal 9") });
  });
});

// because no engine may answer; why is printed above.
describe.skipIf(works !== true)("docker, where an engine answers", () => {
  for (const { name, run } of sandboxContract(() => ({ adapter: dockerSandbox() }))) it(name, run);
});
