import { fixable } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import type {
  JavaScriptJob,
  Sandbox,
  SandboxJob,
  SandboxLimits,
  SandboxOutcome,
} from "../../../execute/sandbox.port.ts";
import { cancelled, type End, followThread, readEnd, readForeign } from "../subprocess/run-process.ts";
import { cannotGive } from "../subprocess/subprocess.ts";
import { startWorker } from "../../../system/start-worker.ts";
import { compileInterpreter } from "./interpreter.ts";

/** The initial data of a job's thread. @internal */
export interface ThreadStart {
  /** The compiled interpreter, a WebAssembly.Module. */
  readonly interpreter: object;
  readonly code: string;
  readonly input: string;
  readonly functions: readonly string[];
  readonly limits: SandboxLimits;
}

/** A message from the thread: the code wrote output, calls a function, or has ended. Values are JSON text; undefined values are omitted. @internal */
export type FromThread =
  | { readonly kind: "wrote"; readonly stream: "stdout" | "stderr"; readonly text: string }
  | { readonly kind: "call"; readonly id: number; readonly name: string; readonly argument?: string }
  | {
      readonly kind: "end";
      readonly status: SandboxOutcome["status"];
      readonly result?: string;
      readonly reason?: string;
    };

/** The outcome of a function call. @internal */
export type ToThread =
  | { readonly id: number; readonly value?: string }
  | { readonly id: number; readonly error: string };

/** Runs a model's JavaScript in QuickJS (WebAssembly), on its own thread. The code has no files, network or processes, only the job's functions. */
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
        const fix = "npm install quickjs-emscripten-core @jitl/quickjs-wasmfile-release-sync";
        throw fixable("LIBRARY_MISSING", "The isolate needs its interpreter:", fix, { cause });
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

/** The interpreter's data is in WebAssembly memory. The thread's heap holds only texts in transit. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

function runThread(job: JavaScriptJob, interpreter: object): Promise<SandboxOutcome> {
  const { limits, signal, functions = {} } = job;
  const start: ThreadStart = {
    interpreter,
    code: job.code,
    input: JSON.stringify(job.input ?? null),
    functions: Object.keys(functions),
    limits,
  };
  const options = { workerData: start, env: {}, name: "toolarsenal-isolate", resourceLimits: THREAD_LIMITS };
  const worker = startWorker("isolate-thread", import.meta.url, options);
  const lost = { status: "killed", reason: "Its thread ended." } as const;
  return followThread(worker, { sandbox: "isolate", limits, signal, lost }, ({ settle, written, ended }) => {
    worker.on("message", (message: FromThread) => {
      if (ended.aborted) return;
      if (message.kind === "wrote") written[message.stream] += message.text;
      else if (message.kind === "end") settle(toEnd(message));
      else void answer(functions, message, ended).then((reply) => worker.postMessage(reply, []));
    });
  });
}

/** Calls a function of the program for the code. Input and output are JSON text, so no object is shared. */
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
  if (status === "ok" && result !== undefined) return readEnd(result);
  return { status, ...(reason !== undefined && { reason }) };
}

export { isolateSandbox as create };
