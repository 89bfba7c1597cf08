import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { markedProcesses } from "../../../test/e2e/open-descriptors.ts";
import { type Sandbox, SANDBOX_LIMITS, type SandboxJob, type SandboxOutcome } from "../../execute/sandbox.port.ts";
import { bubblewrapSandbox } from "./bubblewrap/bubblewrap.ts";
import { dockerSandbox } from "./docker/docker.ts";
import { isolateSandbox } from "./isolate/isolate.ts";
import { noSandbox } from "./none/none.ts";
import { CAN_DENY_NETWORK, subprocessSandbox } from "./subprocess/subprocess.ts";

/** What a test sees of an attack; the words of the table in docs/guides/sandboxes.md. */
type AttackOutcome = "allowed" | "contained" | "denied" | "stopped";

/** What an attack is told: a place it must not write to, a process that it must not end, a port of this machine, and how much memory to take. */
interface Target {
  readonly place: string;
  readonly pid: number;
  readonly port: number;
  readonly mebibytes: number;
}

/** JavaScript that returns "through" where it got what it wanted, and whether the program noticed. */
interface Attack {
  readonly code: string;
  reached(state: { readonly target: Target; readonly connections: number; readonly mark: string }): boolean;
}

const SPAWN = `process.getBuiltinModule("node:child_process").spawn`;

const ATTACKS: Readonly<Record<string, Attack>> = {
  "read /etc/passwd": {
    code: `return process.getBuiltinModule("node:fs").readFileSync("/etc/passwd", "utf8").includes(":") ? "through" : "";`,
    // A container has a file of that name of its own.
    reached: () => true,
  },
  "open a socket": {
    code: `const net = process.getBuiltinModule("node:net");
      await new Promise((done, fail) => net.connect(input.port, "127.0.0.1", done).on("error", fail));
      return "through";`,
    reached: ({ connections }) => connections > 0,
  },
  "start a program": {
    code: `const { status } = ${SPAWN}Sync("sh", ["-c", "touch " + input.place + "; true"]);
      return status === 0 ? "through" : "";`,
    reached: ({ target }) => existsSync(target.place),
  },
  "write outside the given folders": {
    code: `process.getBuiltinModule("node:fs").writeFileSync(input.place, ""); return "through";`,
    reached: ({ target }) => existsSync(target.place),
  },
  "loop without end": { code: "for (;;);", reached: () => true },
  "take 2 GB of memory": {
    code: `const kept = [];
      for (let taken = 0; taken < input.mebibytes; taken += 32) kept.push(new Uint8Array(32 * 1024 * 1024).fill(1));
      return "through";`,
    reached: () => true,
  },
  "print without end": { code: `for (;;) { console.log("x".repeat(10_000)); }`, reached: () => true },
  "change built-in prototypes": {
    code: `Object.prototype.polluted = true;
      Object.getPrototypeOf(Object.getPrototypeOf(async () => {})).polluted = true;
      globalThis.Array.prototype.at = () => "mine";
      return "through";`,
    reached: () => "polluted" in {} || [1].at(0) !== 1,
  },
  "leave 20 processes behind": {
    code: `for (let i = 0; i < 20; i++) ${SPAWN}("sleep", ["61"], { stdio: "ignore" }).unref(); return "through";`,
    reached: ({ mark }) => markedProcesses(mark).length > 0,
  },
  "leave a process in another session behind": {
    code: `${SPAWN}("sleep", ["62"], { detached: true, stdio: "ignore" }).unref(); return "through";`,
    reached: ({ mark }) => markedProcesses(mark).length > 0,
  },
  "end another process of this user": {
    code: `process.kill(input.pid, "SIGKILL"); return "through";`,
    reached: () => true,
  },
};

/** The columns of the table. A command is Node without any restraint of its own, so that what is seen is the sandbox. */
const COLUMNS: Readonly<Record<string, { readonly sandbox: Sandbox; readonly kind: SandboxJob["kind"] }>> = {
  none: { sandbox: noSandbox(), kind: "javascript" },
  "subprocess, JavaScript": { sandbox: subprocessSandbox(), kind: "javascript" },
  "subprocess, command": { sandbox: subprocessSandbox(), kind: "command" },
  "bubblewrap, JavaScript": { sandbox: bubblewrapSandbox(), kind: "javascript" },
  "bubblewrap, command": { sandbox: bubblewrapSandbox(), kind: "command" },
  "docker, JavaScript": { sandbox: dockerSandbox(), kind: "javascript" },
  "docker, command": { sandbox: dockerSandbox(), kind: "command" },
  isolate: { sandbox: isolateSandbox(), kind: "javascript" },
};

const node = realpathSync(process.execPath);

function toJob(column: string, code: string, target: Target, mark: string): SandboxJob {
  const limits = {
    ...SANDBOX_LIMITS,
    cpuMs: 1_000,
    timeoutMs: code.includes("for (;;);") ? 500 : code.includes("for (;;)") ? 3_000 : 8_000,
    outputBytes: 64 * 1024,
  };
  const env = column === "isolate" ? {} : { MARK: mark };
  if (COLUMNS[column]?.kind !== "command") return { kind: "javascript", code, input: target, limits, env };
  const text = `(async (input) => { ${code} })(JSON.parse(process.argv[1])).then(
    (result) => process.stdout.write(String(result), () => process.exit(0)), (error) => process.exit(1));`;
  const isDocker = column.startsWith("docker");
  return {
    kind: "command",
    argv: [isDocker ? "node" : node, "--eval", text, JSON.stringify(target)],
    // A command's Node is a program like any other, and what it needs for itself counts.
    limits: { ...limits, memoryBytes: (isDocker ? 192 : 768) * 1024 * 1024 },
    env,
    ...(column.startsWith("bubblewrap") ? { read: [node] } : {}),
  };
}

function toSeen({ status, result, stdout }: SandboxOutcome, reached: boolean): AttackOutcome {
  if (status === "timeout" || status === "killed") return "stopped";
  if (status === "failed" || (result ?? stdout) !== "through") return "denied";
  return reached ? "allowed" : "contained";
}

/** The table as it stands in the documentation: what is expected of each sandbox and attack. */
const page = readFileSync(new URL("../../../docs/guides/sandboxes.md", import.meta.url), "utf8");
const [table = ""] = /^\| attack \|(?:.|\n\|)*/m.exec(page) ?? [];
const [heading = [], , ...lines] = table.split("\n").map((line) => line.slice(2, -2).split(" | "));

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "attack-")));
});
const mark = randomUUID();
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  // Those that an attack left behind on purpose, known by their mark.
  for (const pid of markedProcesses(mark)) process.kill(pid, "SIGKILL");
});

/** Stands for the gateway: a program of this user that has nothing to do with the job. */
let victim: ChildProcess;
beforeEach(() => {
  victim = spawn("sleep", ["600"], { stdio: "ignore" });
});
afterEach(() => void victim.kill("SIGKILL"));

let connections = 0;
const server = createServer((socket) => {
  connections++;
  socket.destroy();
});
beforeAll(() => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready)));
afterAll(() => server.close());

it("has a row for every attack and a column for every sandbox, in docs/guides/sandboxes.md [000-15.1-sandbox]", () => {
  expect(heading).toEqual(["attack", ...Object.keys(COLUMNS)]);
  expect(lines.map(([attack]) => attack)).toEqual(Object.keys(ATTACKS));
});

it("says in docs/guides/sandboxes.md what each word of the table means, and uses every word", () => {
  const words = Array.from(page.matchAll(/^- \*\*(?<word>[^*]+)\*\*: /gm), ({ groups }) => groups?.["word"]);
  expect(new Set(lines.flatMap(([, ...cells]) => cells))).toEqual(new Set(words));
  expect(new Set(lines.map((cells) => cells.length))).toEqual(new Set([heading.length]));
});

for (const [index, [column, { sandbox }]] of Object.entries(COLUMNS).entries()) {
  const works = await sandbox.available();
  if (works !== true) process.stderr.write(`Attacks on ${column} are not made: ${works}\n`);

  // because not every machine has the sandbox; why is printed above.
  describe.skipIf(works !== true)(`against ${column}`, () => {
    it.each(lines.map((cells) => [cells[0] ?? "", cells[index + 1] ?? ""]))("%s: %s", async (name, cell) => {
      const attack = ATTACKS[name];
      if (attack === undefined) throw new Error(`no attack ${name}`);
      const { port } = server.address() as AddressInfo;
      // Where nothing holds the code, a little more than the limit shows it as well.
      const mebibytes = column === "none" ? 128 : 2_048;
      const target: Target = { place: join(folder, "x"), pid: victim.pid ?? 0, port, mebibytes };
      connections = 0;
      const outcome = await sandbox.run(toJob(column, attack.code, target, mark));
      const isOwn = column.startsWith("docker") && name === "read /etc/passwd";
      const seen = toSeen(outcome, !isOwn && attack.reached({ target, connections, mark }));
      expect(seen).toBe(cell === "by version" ? (CAN_DENY_NETWORK ? "denied" : "allowed") : cell);
    });
  });
}
