import type { Worker } from "node:worker_threads";
import { compileInterpreter } from "../../adapters/sandboxes/isolate/interpreter.ts";
import { sha256 } from "../../base/crypto.ts";
import { ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { startWorker } from "../../system/start-worker.ts";
import type { ProgramBounds, ProgramHost, ProgramJob, ProgramOutcome, StartedProgram } from "../program.ts";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";
import { createRecentUse } from "./recent-use.ts";
import { fromStepText, toRepliesText } from "./step-texts.ts";

/** The interpreter's data is in WebAssembly memory. The thread's heap holds only the compiler and texts in transit. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 };

/** Maximum number of concurrent programs of one depth, each on its own thread. Further programs are queued. */
const MOST_THREADS = 8;

/** Maximum number of concurrent programs of one caller and depth, so that other callers find a free thread. */
const MOST_PER_CALLER = 4;

/** Number of idle threads that are kept for the next programs. */
const SPARE_THREADS = 2;

/**
 * Recent processor time, in milliseconds, above which a caller is heavy. Programs of a heavy caller start with the lowest priority, and each waits a
 * moment, so that starting a flood of short programs does not fill the gateway's thread.
 */
const HEAVY_USE = { most: 200, forgottenPerSecond: 200 };
const HEAVY_PAUSE_MS = 5;

interface Thread {
  readonly worker: Worker;
  post(message: ToThread): void;
  isReady: boolean;
  /** True once the thread was ready for the first time. */
  hasStarted: boolean;
  program: RunningProgram | undefined;
  /** The caller of the thread's last program. */
  caller: string | undefined;
  /** The only caller that may use this thread, because the thread has the lowest priority since that caller's program computed for long. */
  slowFor: string | undefined;
}

interface RunningProgram {
  readonly job: ProgramJob;
  thread: Thread | undefined;
  /** True during the pause for a heavy caller. */
  isHeld: boolean;
  /** True while the thread computes: it has not reported since the last message to it. */
  isBusy: boolean;
  /** Time of the last message to the thread, in milliseconds. */
  busySince: number;
  settle(outcome: ProgramOutcome | Error): void;
}

/**
 * Runs programs in QuickJS (WebAssembly), each on its own thread of this process, which can be terminated. A prepared thread is kept, so that
 * programs start without delay.
 */
export function threadHost(
  { memoryBytes }: Pick<ProgramBounds, "memoryBytes">,
  now: () => number = () => performance.now(),
): ProgramHost {
  const threads = new Set<Thread>();
  const waiting: RunningProgram[] = [];
  const use = createRecentUse(HEAVY_USE);
  let closed = false;

  /** Returns the maximum number of threads. Each depth has its own threads, so that no program waits for the thread of the program that called it. */
  function mostThreads(): number {
    const running = [...threads].map(({ program }) => program?.job.depth ?? 1);
    return MOST_THREADS * Math.max(1, ...running, ...waiting.map(({ job }) => job.depth));
  }

  async function grow(): Promise<void> {
    const interpreter = await interpreterOf();
    if (closed || threads.size >= mostThreads()) return;
    const wake = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const workerData: ThreadData = { interpreter, memoryBytes, wake };
    const options = {
      workerData,
      env: {},
      name: "toolarsenal-program",
      resourceLimits: THREAD_LIMITS,
    };
    const worker = startWorker("program-thread", import.meta.url, options);
    const thread: Thread = {
      worker,
      post(message) {
        worker.postMessage(message, []);
        Atomics.add(wake, 0, 1);
        Atomics.notify(wake, 0);
      },
      isReady: false,
      hasStarted: false,
      program: undefined,
      caller: undefined,
      slowFor: undefined,
    };
    threads.add(thread);
    worker.on("message", (message: FromThread) => heard(thread, message));
    worker.on("error", (error) => lost(thread, error.message));
    worker.on("exit", () => lost(thread, "its thread ended"));
  }

  function heard(thread: Thread, message: FromThread): void {
    // Keeps the process alive until an ending thread has ended.
    if (!threads.has(thread)) return;
    const { program } = thread;
    if (typeof message === "string") {
      if (program === undefined) return;
      program.isBusy = false;
      const { calls, waiting: count } = fromStepText(message);
      program.job.onCalls(calls, count);
      return;
    }
    if (message.isSlow) thread.slowFor = thread.caller;
    if (message.kind === "ready") {
      thread.isReady = true;
      thread.hasStarted = true;
      if (thread.caller !== undefined) use.add(thread.caller, message.ms, now());
      assign();
      if (thread.program === undefined) thread.worker.unref();
      return;
    }
    if (program === undefined) return;
    program.isBusy = false;
    use.add(program.job.caller, message.ms, now());
    release(program, "keep");
    program.settle(message.outcome);
  }

  function lost(thread: Thread, why: string): void {
    if (!threads.delete(thread)) return;
    const { program } = thread;
    thread.program = undefined;
    program?.settle({ logs: [], error: { message: `The program was ended: ${why}.` } });
    // If a thread cannot start, the next attempt would fail too.
    const error = new ArsenalError("SANDBOX_FAILED", `The thread of programs cannot start: ${why}.`);
    if (!thread.hasStarted) for (const each of waiting.splice(0)) each.settle(error);
    if (waiting.length > 0) ensure();
  }

  /** Frees the thread of a program. A thread that computes, or whose program went wrong, is terminated. */
  function release(program: RunningProgram, how: "end" | "drop" | "keep"): void {
    const { thread } = program;
    program.thread = undefined;
    if (thread === undefined) return;
    thread.program = undefined;
    thread.isReady = false;
    if (waiting.length === 0) thread.worker.unref();
    const isSlow = thread.slowFor !== undefined;
    const idle = [...threads].filter(
      (each) => each.program === undefined && (each.slowFor !== undefined) === isSlow,
    ).length;
    if (how === "end" || (idle > SPARE_THREADS && waiting.length === 0)) {
      threads.delete(thread);
      void thread.worker.terminate();
      ensure();
    } else if (how === "drop") thread.post({ kind: "drop" });
  }

  /** Assigns ready threads to waiting programs. A slow thread is only for its own caller. */
  function assign(): void {
    for (const program of waiting.slice()) {
      if (program.isHeld) continue;
      const { caller, depth } = program.job;
      const level = [...threads].flatMap(({ program: running }) => (running?.job.depth === depth ? running : []));
      const own = level.filter(({ job }) => job.caller === caller);
      if (own.length >= MOST_PER_CALLER || level.length >= MOST_THREADS) continue;
      const free = [...threads].filter((thread) => thread.isReady && thread.program === undefined);
      const thread =
        free.find(({ slowFor }) => slowFor === caller) ?? free.find(({ slowFor }) => slowFor === undefined);
      if (thread === undefined) continue;
      waiting.splice(waiting.indexOf(program), 1);
      thread.isReady = false;
      thread.program = program;
      program.thread = thread;
      thread.caller = caller;
      program.isBusy = true;
      program.busySince = now();
      // Keeps the process alive while a program runs.
      thread.worker.ref();
      const { code, namespaces, input, bounds, now: startsAt, seed } = program.job;
      const isSlow = thread.slowFor === undefined && use.isHeavy(caller, program.busySince);
      thread.post({ kind: "start", isSlow, code, namespaces, input, bounds, now: startsAt, seed: toSeed(seed) });
    }
  }

  /** Starts a thread if a program waits for one, or if no spare thread is left. */
  function ensure(): void {
    const idle = [...threads].filter(isIdle).length;
    // Keeps the process alive while a program waits.
    if (waiting.length > 0) for (const { worker } of threads) worker.ref();
    if (closed || idle > waiting.length) return;
    if (threads.size >= mostThreads()) {
      const unused = [...threads].find((each) => each.program === undefined && each.slowFor !== undefined);
      if (unused === undefined || waiting.length === 0) return;
      threads.delete(unused);
      void unused.worker.terminate();
    }
    grow().catch((error: Error) => {
      for (const program of waiting.splice(0)) program.settle(error);
    });
  }

  return {
    name: "quickjs",
    check: async () => void (await interpreterOf()),
    prepare: ensure,
    start(job): StartedProgram {
      const { promise: ended, resolve, reject } = Promise.withResolvers<ProgramOutcome>();
      const onAbort = (): void => {
        end();
        program.settle(cancelled(job.signal));
      };
      const end = (): void => {
        const place = waiting.indexOf(program);
        if (place >= 0) waiting.splice(place, 1);
        // A program that is ended while it computes cannot report its processor time.
        if (program.isBusy) use.add(job.caller, now() - program.busySince, now());
        release(program, program.isBusy ? "end" : "drop");
      };
      const program: RunningProgram = {
        job,
        thread: undefined,
        isHeld: use.isHeavy(job.caller, now()),
        isBusy: false,
        busySince: 0,
        settle(outcome) {
          job.signal.removeEventListener("abort", onAbort);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        },
      };
      const admit = (): void => {
        program.isHeld = false;
        assign();
        ensure();
      };
      if (closed) program.settle(new ArsenalError("CLOSED", "This arsenal was closed."));
      else if (job.signal.aborted) program.settle(cancelled(job.signal));
      else {
        job.signal.addEventListener("abort", onAbort, { once: true });
        waiting.push(program);
        if (program.isHeld) setTimeout(admit, HEAVY_PAUSE_MS);
        else admit();
      }
      return {
        ended,
        reply(replies) {
          const { thread } = program;
          if (thread === undefined || replies.length === 0) return;
          program.isBusy = true;
          program.busySince = now();
          thread.post(toRepliesText(replies));
        },
        stop(reason) {
          end();
          program.settle({ logs: [], error: { message: reason } });
        },
      };
    },
    async close() {
      closed = true;
      const all = [...threads];
      threads.clear();
      // Keeps the process alive until all threads have ended.
      for (const { worker } of all) worker.ref();
      for (const program of waiting.splice(0)) program.settle(new ArsenalError("CLOSED", "This arsenal was closed."));
      await Promise.all(all.map(({ worker }) => worker.terminate()));
    },
  };
}

function interpreterOf(): ReturnType<typeof compileInterpreter> {
  return compileInterpreter().catch((cause: unknown) => {
    const fix = "npm install quickjs-emscripten-core @jitl/quickjs-wasmfile-release-sync";
    throw fixable("LIBRARY_MISSING", "The interpreter of programs is not installed:", fix, { cause });
  });
}

/** Returns true for a thread that may run any caller's program. */
function isIdle({ program, slowFor }: Thread): boolean {
  return program === undefined && slowFor === undefined;
}

function toSeed(seed: string): readonly number[] {
  const bytes = Buffer.from(sha256(seed), "hex");
  return [0, 4, 8, 12].map((at) => bytes.readInt32LE(at));
}

function cancelled({ reason }: AbortSignal): Error {
  return reason instanceof ArsenalError ? reason : new ArsenalError("CANCELLED", "The program was cancelled.");
}
