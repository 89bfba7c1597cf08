import { Worker } from "node:worker_threads";
import type { JavaScriptJob, Sandbox, SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { cancelled, readForeign, runProcess, saidTooMuch, tookTooLong } from "../subprocess/run-process.ts";
import { cannotGive } from "../subprocess/subprocess.ts";

/** Runs jobs with the rights and environment of this process, for code you trust. JavaScript runs on a thread, so that it can be ended. */
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
      return runProcess({ sandbox: "none", argv, input, limits, env, cwd, ...(signal ? { signal } : {}) });
    },
  };
}

const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const AsyncFunction = (async () => {}).constructor;
const show = (error) => (error instanceof Error ? error.name + ": " + error.message : String(error));
(async () => JSON.stringify({ result: await new AsyncFunction("input", workerData.code)(workerData.input) }))()
  .then((text) => parentPort.postMessage(text), (error) => parentPort.postMessage(JSON.stringify({ error: show(error) })));
`;

function runThread(job: JavaScriptJob, env: Record<string, string>): Promise<SandboxOutcome> {
  const { code, input, limits, signal } = job;
  if (signal?.aborted) return Promise.reject(cancelled("none"));
  return new Promise((resolve, reject) => {
    const worker = new Worker(THREAD, {
      eval: true,
      workerData: { code, input },
      env,
      execArgv: [],
      stdout: true,
      stderr: true,
      name: "toolarsenal-none",
      // No bound on its heap: the engine ends the whole process where a thread reaches one in a bad moment.
    });
    const written = { stdout: "", stderr: "" };
    let room = limits.outputBytes;
    let settled: Omit<SandboxOutcome, "stdout" | "stderr"> | undefined;

    const settle = (end: typeof settled): void => {
      settled ??= end;
      void worker.terminate();
    };
    const take = (bytes: number): boolean => {
      room -= bytes;
      if (room < 0) settle({ status: "killed", reason: saidTooMuch(limits) });
      return room >= 0;
    };
    for (const name of ["stdout", "stderr"] as const)
      worker[name].on("data", (chunk: Buffer) => {
        if (take(chunk.length)) written[name] += chunk.toString("utf8");
      });
    const timer = setTimeout(() => settle({ status: "timeout", reason: tookTooLong(limits) }), limits.timeoutMs);
    const onAbort = (): void => void worker.terminate();
    signal?.addEventListener("abort", onAbort, { once: true });

    worker.on("message", (text: string) => {
      if (take(Buffer.byteLength(text))) settle(toEnd(text));
    });
    worker.on("error", (error) => settle({ status: "killed", reason: error.message }));
    worker.on("exit", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (signal?.aborted) reject(cancelled("none"));
      else resolve({ ...written, ...(settled ?? { status: "failed", reason: "It ended without a result." }) });
    });
  });
}

function toEnd(text: string): Omit<SandboxOutcome, "stdout" | "stderr"> {
  const frame = readForeign(text) as { readonly result?: unknown; readonly error?: unknown };
  if (frame.error !== undefined) return { status: "failed", reason: String(frame.error) };
  return { status: "ok", ...("result" in frame ? { result: frame.result } : {}) };
}

export { noSandbox as create };
