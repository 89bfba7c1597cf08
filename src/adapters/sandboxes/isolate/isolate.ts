import { Worker } from "node:worker_threads";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import type { JavaScriptJob, Sandbox, SandboxJob, SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { cancelled, readForeign, tookTooLong } from "../subprocess/run-process.ts";
import { cannotGive } from "../subprocess/subprocess.ts";
import { compileInterpreter } from "./interpreter.ts";
import type { FromThread, ThreadStart, ToThread } from "./messages.ts";

/** Runs JavaScript that a model wrote in QuickJS (WebAssembly), on its own thread: no files, network or processes, only the functions the job names. */
export function isolateSandbox(): Sandbox {
  return {
    name: "isolate",
    kinds: ["javascript"],
    async available() {
      try {
        await compileInterpreter();
        return true;
      } catch {
        return "The interpreter cannot be loaded. Install it: npm install quickjs-emscripten-core @jitl/quickjs-wasmfile-release-sync.";
      }
    },
    async run(job) {
      const script = accepted(job);
      const interpreter = await compileInterpreter().catch((cause: unknown) => {
        throw notLoaded(cause);
      });
      if (job.signal?.aborted) throw cancelled("isolate");
      return runThread(script, interpreter);
    },
  };
}

function accepted(job: SandboxJob): JavaScriptJob {
  const fix = "Use bubblewrap, docker or subprocess.";
  if (job.kind !== "javascript") throw cannotGive("isolate", "a command", fix);
  for (const field of ["read", "write", "env"] as const)
    if (Object.keys(job[field] ?? {}).length > 0) throw cannotGive("isolate", field, fix);
  if (job.network === true) throw cannotGive("isolate", "network", fix);
  return job;
}

/** The interpreter's own data lies in WebAssembly memory; the thread's heap holds no more than texts on their way. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

type End = Pick<SandboxOutcome, "status" | "reason" | "result">;

function runThread(job: JavaScriptJob, interpreter: object): Promise<SandboxOutcome> {
  const { limits, signal, functions = {} } = job;
  const start: ThreadStart = {
    interpreter,
    code: job.code,
    input: JSON.stringify(job.input ?? null),
    functions: Object.keys(functions),
    limits,
  };
  return new Promise((resolve, reject) => {
    const worker = new Worker(THREAD, {
      workerData: start,
      env: {},
      // Flags the process was started with are none of the thread's: some of them it would refuse.
      execArgv: [],
      name: "toolarsenal-isolate",
      resourceLimits: THREAD_LIMITS,
    });
    const written = { stdout: "", stderr: "" };
    const ended = new AbortController();
    let end: End | undefined;

    const settle = (how: End): void => {
      end ??= how;
      ended.abort();
      void worker.terminate();
    };
    const timer = setTimeout(() => settle({ status: "timeout", reason: tookTooLong(limits) }), limits.timeoutMs);
    const onAbort = (): void => settle({ status: "killed" });
    signal?.addEventListener("abort", onAbort, { once: true });

    worker.on("message", (message: FromThread) => {
      if (end !== undefined) return;
      if (message.kind === "wrote") written[message.stream] += message.text;
      else if (message.kind === "end") settle(toEnd(message));
      else void answer(functions, message, ended.signal).then((reply) => worker.postMessage(reply, []));
    });
    worker.on("error", (error) => settle({ status: "killed", reason: error.message }));
    worker.on("exit", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (signal?.aborted) reject(cancelled("isolate"));
      else resolve({ ...written, ...(end ?? { status: "killed", reason: "Its thread ended." }) });
    });
  });
}

/** Found beside this file, in sources as in what is built from them. */
const THREAD = new URL(
  import.meta.url.endsWith(".ts") ? "./isolate-thread.ts" : "./isolate-thread.js",
  import.meta.url,
);

/** Calls a function of the program for the code. JSON text goes in and comes out, so that no object is shared. */
async function answer(
  functions: NonNullable<JavaScriptJob["functions"]>,
  { id, name, argument }: FromThread & { readonly kind: "call" },
  signal: AbortSignal,
): Promise<ToThread> {
  try {
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (called === undefined) throw new Error(`There is no function ${name}.`);
    const value = JSON.stringify(await called(argument === undefined ? undefined : readForeign(argument), { signal }));
    return value === undefined ? { id } : { id, value };
  } catch (error) {
    return { id, error: messageOf(error) };
  }
}

function toEnd({ status, result, reason }: FromThread & { readonly kind: "end" }): End {
  if (status !== "ok" || result === undefined) return { status, ...(reason === undefined ? {} : { reason }) };
  try {
    const frame = readForeign(result) as { readonly result?: unknown; readonly error?: unknown } | null;
    if (typeof frame?.error === "string") return { status: "failed", reason: frame.error };
    return { status, ...(frame !== null && "result" in frame ? { result: frame.result } : {}) };
  } catch {
    return { status: "failed", reason: "Its result cannot be read." };
  }
}

function notLoaded(cause: unknown): ArsenalError {
  const fix = "npm install quickjs-emscripten-core @jitl/quickjs-wasmfile-release-sync";
  return fixable("LIBRARY_MISSING", "The isolate needs its interpreter:", fix, { cause });
}

export { isolateSandbox as create };
