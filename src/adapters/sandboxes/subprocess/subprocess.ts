import type { JavaScriptJob, Sandbox, SandboxJob } from "../../../execute/sandbox.port.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { nodeProgram } from "./node-program.ts";
import { runProcess } from "./run-process.ts";
import { withLimits } from "./with-limits.ts";

/**
 * Runs jobs as processes of this user: a scrubbed environment, limits of the system, a process group that is killed whole. JavaScript
 * cannot touch files it was not given, start programs or load foreign libraries; a command can, like any program of this user.
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
    async run(job) {
      const { limits, signal } = job;
      const shared = {
        sandbox: "subprocess",
        env: environment(job),
        // A job that may write begins where it may.
        cwd: job.write?.[0] ?? "/",
        limits,
        ...(signal === undefined ? {} : { signal }),
      };
      if (job.kind === "command") {
        const argv = withLimits(job.argv, { ...limits, isNode: false });
        return runProcess({ ...shared, argv, input: job.input ?? "" });
      }
      const program = programOf(job, "subprocess");
      const argv = withLimits([process.execPath, ...program.arguments], { ...limits, isNode: true });
      return program.toOutcome(await runProcess({ ...shared, argv, input: program.input }));
    },
  };
}

/** A job's whole environment: what programs need to be found and to write text, and what the job names. @internal */
export function environment({ env = {} }: SandboxJob): Record<string, string> {
  return { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", ...env };
}

/** JavaScript as a Node program; refuses functions of this program, which no other process can call. @internal */
export function programOf(job: JavaScriptJob, sandbox: string): ReturnType<typeof nodeProgram> {
  if (job.functions !== undefined) throw cannotGive(sandbox, "functions", "Use isolate for code that calls functions.");
  return nodeProgram(job);
}

/** What `run` rejects with where a job asks for something that the sandbox does not have. @internal */
export function cannotGive(sandbox: string, field: string, fix: string): ArsenalError {
  const message = `The sandbox "${sandbox}" cannot give a job ${field}. ${fix}`;
  return new ArsenalError("SANDBOX_FAILED", message, { field, fix, beforeSend: true });
}

export { subprocessSandbox as create };
