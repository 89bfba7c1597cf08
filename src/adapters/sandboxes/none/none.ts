import { Worker } from "node:worker_threads";
import type { JavaScriptJob, Sandbox, SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { cancelled, followThread, readEnd, runProcess, saidTooMuch } from "../subprocess/run-process.ts";
import { cannotGive, RUN_CODE } from "../subprocess/subprocess.ts";

/** Runs jobs with the rights and environment of this process, for trusted code. JavaScript runs on a thread, so it can be ended. */
export function noSandbox(): Sandbox {
  return {
    name: "none",
    kinds: ["command", "javascript"],
    available: async () => true,
    async run(job) {
      const env = { ...(process.env as Record<string, string>), ...job.env };
      if (job.kind === "javascript") {
        if (job.functions !== undefined)
          throw cannotGive("none", "functions", "Use isolate for code that calls functions.");
        return runThread(job, env);
      }
      const { argv, input = "", limits, signal } = job;
      const cwd = job.write?.[0] ?? process.cwd();
      return runProcess({ sandbox: "none", argv, input, limits, env, cwd, signal });
    },
  };
}

const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
${RUN_CODE}
run(workerData.code, workerData.input).then((text) => parentPort.postMessage(text));
`;

function runThread(job: JavaScriptJob, env: Record<string, string>): Promise<SandboxOutcome> {
  const { code, input, limits, signal } = job;
  if (signal?.aborted) return Promise.reject(cancelled("none"));
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { code, input },
    env,
    execArgv: [],
    stdout: true,
    stderr: true,
    name: "toolarsenal-none",
    // The heap has no limit, because the engine may end the whole process if a thread reaches one.
  });
  const lost = { status: "failed", reason: "It ended without a result." } as const;
  return followThread(worker, { sandbox: "none", limits, signal, lost }, ({ settle, written }) => {
    let room = limits.outputBytes;
    const take = (bytes: number): boolean => {
      room -= bytes;
      if (room < 0) settle({ status: "killed", reason: saidTooMuch(limits) });
      return room >= 0;
    };
    for (const name of ["stdout", "stderr"] as const)
      worker[name].on("data", (chunk: Buffer) => {
        if (take(chunk.length)) written[name] += chunk.toString("utf8");
      });
    worker.on("message", (text: string) => {
      if (take(Buffer.byteLength(text))) settle(readEnd(text));
    });
  });
}

export { noSandbox as create };
