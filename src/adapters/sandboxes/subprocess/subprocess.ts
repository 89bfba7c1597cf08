import type { JavaScriptJob, Sandbox, SandboxJob, SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { readEnd, runProcess, withLimits } from "./run-process.ts";
import { randomUUID } from "node:crypto";

/**
 * Runs jobs as processes of this user, with a cleaned environment, system limits, and a process group that is killed as a whole. JavaScript can
 * access only the given files, and cannot start programs or load native libraries. A command can do everything that a program of this user can.
 */
export function subprocessSandbox(): Sandbox {
  return {
    name: "subprocess",
    kinds: ["command", "javascript"],
    async available() {
      return process.platform === "win32"
        ? "The limits of processes need a POSIX system. Use isolate or docker on Windows."
        : true;
    },
    run: (job) =>
      runJob(job, "subprocess", process.execPath, (argv, input) =>
        runProcess({
          sandbox: "subprocess",
          argv: withLimits(argv, { ...job.limits, isNode: job.kind === "javascript" }),
          input,
          env: environment(job),
          // A job that may write starts in its writable folder.
          cwd: job.write?.[0] ?? "/",
          limits: job.limits,
          signal: job.signal,
        }),
      ),
  };
}

/** Returns a job's complete environment: the variables that programs need to be found and to write text, and the job's own variables. @internal */
export function environment({ env = {} }: SandboxJob): Record<string, string> {
  return { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", ...env };
}

type Argv = readonly [program: string, ...rest: string[]];

/** Runs a job as a command with `start`. JavaScript becomes a program for `node`, which cannot call functions of this process. @internal */
export async function runJob(
  job: SandboxJob,
  sandbox: string,
  node: string,
  start: (argv: Argv, input: string) => Promise<SandboxOutcome>,
): Promise<SandboxOutcome> {
  if (job.kind === "command") return start(job.argv, job.input ?? "");
  if (job.functions !== undefined) throw cannotGive(sandbox, "functions", "Use isolate for code that calls functions.");
  const program = nodeProgram(job);
  return program.toOutcome(await start([node, ...program.arguments], program.input));
}

/** The error of `run` for a job that needs an unsupported feature. @internal */
export function cannotGive(sandbox: string, field: string, fix: string): ArsenalError {
  const problem = `The sandbox "${sandbox}" does not support ${field} for jobs.`;
  return fixable("SANDBOX_FAILED", problem, fix, { field, beforeSend: true });
}

export { subprocessSandbox as create };

/** Defines `run`, which runs code and returns `{ result }` or `{ error }` as JSON. @internal */
export const RUN_CODE = `
const AsyncFunction = (async () => {}).constructor;
const show = (error) => (error instanceof Error ? error.name + ": " + error.message : String(error));
const run = (code, input) =>
  (async () => JSON.stringify({ result: await new AsyncFunction("input", code)(input) }))()
    .catch((error) => JSON.stringify({ error: show(error) }));`;

/**
 * The program that runs the code. Reads code and input from stdin, and writes the outcome after a mark at the end of stdout. Passed as text, so Node
 * reads no file.
 */
const PROGRAM = `
${RUN_CODE}
const { mark, code, input } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
run(code, input).then((frame) => process.stdout.write(mark + frame, () => process.exit(0)));
`;

/** Converts a job to a Node program that can access only the job's paths, start no program, and load no native library. */
function nodeProgram(job: JavaScriptJob) {
  const mark = `\n${randomUUID()} `;
  const mebibytes = Math.max(1, Math.floor(job.limits.memoryBytes / (1024 * 1024)));
  return {
    arguments: [...permissions(job), `--max-old-space-size=${mebibytes}`, "--eval", PROGRAM],
    input: JSON.stringify({ mark, code: job.code, input: job.input }),
    toOutcome(ended: SandboxOutcome): SandboxOutcome {
      const at = ended.stdout.lastIndexOf(mark);
      if (at < 0) return ended.status === "ok" ? { ...ended, status: "failed", reason: NO_RESULT } : ended;
      const told = { stdout: ended.stdout.slice(0, at), stderr: ended.stderr };
      if (ended.status !== "ok") return { ...ended, ...told };
      return { ...told, exitCode: 0, ...readEnd(ended.stdout.slice(at + mark.length)) };
    },
  };
}

const NO_RESULT = "It ended without a result: it waited for something that never happens, or exited by itself.";

/** Returns the options of Node's permission model, which allows only what is named. Newer versions also deny the network; older versions cannot. */
function permissions({ read = [], write = [], network }: JavaScriptJob): readonly string[] {
  return [
    "--permission",
    ...[...read, ...write].map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
    ...(network === true && CAN_DENY_NETWORK ? ["--allow-net"] : []),
  ];
}

/** True if this Node's permission model covers the network. @internal */
export const CAN_DENY_NETWORK: boolean = process.allowedNodeEnvironmentFlags.has("--allow-net");
