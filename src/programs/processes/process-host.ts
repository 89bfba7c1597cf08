import { sha256 } from "../../base/crypto.ts";
import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import type { FromGuest } from "../guest/process-messages.ts";
import type { ProgramBounds, ProgramHost, ProgramJob, ProgramOutcome, StartedProgram } from "../program.ts";
import { type ConfinedProcess, type ProcessUsage, startConfined } from "./confined-process.ts";
import { findRuntime, type ProgramRuntime } from "./runtimes.ts";

/** Maximum number of concurrent programs of one depth, each in its own process. Further programs are queued. */
const MOST_PROCESSES = 8;

/** Maximum number of concurrent programs of one caller and depth, so that other callers get their turn. */
const MOST_PER_CALLER = 4;

/** Interval at which the processor time and memory of a program are checked, in milliseconds. */
const LOOK_MS = 20;

/** Memory of the runtime itself, which grows with any program, in bytes: compiled code, and garbage that is not yet collected. */
const RUNTIME_BYTES = 48 * 1024 * 1024;

/** Tolerance for the limits that the guest enforces itself, in characters. A program that exceeds a limit by more has left its realm. */
const MORE_BYTES = 64 * 1024;

/** A process that is ready or still starting. It runs one program. */
interface ProgramProcess {
  readonly process: ConfinedProcess;
  readonly ready: Promise<void>;
  /** Called with each message while a program runs in the process. */
  onMessage: (message: FromGuest) => void;
  onLost: (why: string) => void;
}

interface WaitingProgram {
  readonly job: ProgramJob;
  begin(): void;
}

/** Runs programs in Node or Deno, each in its own bubblewrap process. One process is kept ready, so that the next program starts without delay. */
export function processHost(
  runtime: ProgramRuntime,
  bounds: ProgramBounds,
  settings: { readonly denoPath?: string | undefined } = {},
): ProgramHost {
  const running = new Set<ProgramJob>();
  const places = new Set<ProgramProcess>();
  let waiting: WaitingProgram[] = [];
  let spare: ProgramProcess | undefined;
  let closed = false;

  function open(): ProgramProcess {
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    ready.catch(() => {});
    let isReady = false;
    const process = startConfined(findRuntime(runtime, { ...settings, memoryBytes: bounds.memoryBytes }), bounds, {
      message(message) {
        if (message.kind !== "ready") return place.onMessage(message);
        isReady = true;
        resolve();
      },
      lost(why) {
        places.delete(place);
        if (spare === place) spare = undefined;
        if (isReady) place.onLost(why);
        else reject(cannotStart(runtime, why));
      },
    });
    process.hold(false);
    const place: ProgramProcess = { process, ready, onMessage: () => {}, onLost: () => {} };
    places.add(place);
    return place;
  }

  function discard(place: ProgramProcess): void {
    places.delete(place);
    place.process.kill();
  }

  function prepare(): void {
    if (!closed) spare ??= open();
  }

  /** Starts the waiting programs whose turn it is. Each depth has its own places, so that no program waits for the program that called it. */
  function next(): void {
    const left: WaitingProgram[] = [];
    for (const each of waiting) {
      const level = [...running].filter(({ depth }) => depth === each.job.depth);
      const own = level.filter(({ caller }) => caller === each.job.caller);
      if (level.length >= MOST_PROCESSES || own.length >= MOST_PER_CALLER) left.push(each);
      else {
        running.add(each.job);
        each.begin();
      }
    }
    waiting = left;
  }

  return {
    name: runtime,
    async check() {
      const place = open();
      place.process.hold(true);
      try {
        await place.ready;
      } finally {
        discard(place);
      }
    },
    prepare,
    start(job): StartedProgram {
      const { promise: ended, resolve, reject } = Promise.withResolvers<ProgramOutcome>();
      const logs: string[] = [];
      let logRoom = job.bounds.logBytes + MORE_BYTES;
      let place: ProgramProcess | undefined;
      let calls = 0;
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;

      function settle(outcome: Omit<ProgramOutcome, "logs"> | Error): void {
        if (isOver) return;
        isOver = true;
        clearInterval(timer);
        job.signal.removeEventListener("abort", onAbort);
        waiting = waiting.filter((each) => each.job !== job);
        running.delete(job);
        if (place !== undefined) discard(place);
        if (outcome instanceof Error) reject(outcome);
        else resolve({ ...outcome, logs });
        next();
      }
      const fail = (message: string): void => settle({ error: { message } });
      const onAbort = (): void => settle(cancelled(job.signal));

      function heard(message: FromGuest): void {
        if (isOver || message.kind === "ready") return;
        if (message.kind === "print") {
          logRoom -= message.line.length + 1;
          if (logRoom < 0) fail("The program printed more than the limit.");
          else logs.push(message.line);
          return;
        }
        if (message.kind === "ended") return settle(withinBounds(message.outcome, job.bounds));
        // The program counts its calls itself, but a program that left its realm may not.
        calls += message.calls.length;
        if (calls > job.bounds.calls) return fail(`This program made more than ${job.bounds.calls} calls.`);
        job.onCalls(message.calls, message.waiting);
      }

      /** Ends a program that exceeds its processor time or memory. */
      function look(before: ProcessUsage): void {
        const now = place?.process.usage();
        if (now === undefined) return;
        const { cpuMs, memoryBytes } = job.bounds;
        if (now.cpuMs - before.cpuMs > cpuMs)
          fail(
            `The program computed for more than ${cpuMs} ms. Let the tools filter and count, or work on fewer items.`,
          );
        else if (now.memoryBytes - before.memoryBytes > memoryBytes + RUNTIME_BYTES)
          fail(`The program ran out of memory: the limit is ${memoryBytes} bytes (programs.memory_bytes).`);
      }

      async function begin(): Promise<void> {
        place = spare ?? open();
        spare = undefined;
        place.process.hold(true);
        place.onLost = (why) => fail(`The program was ended: ${why}.`);
        place.onMessage = heard;
        await place.ready;
        if (isOver) return;
        const before = place.process.usage();
        if (before !== undefined) timer = setInterval(look, LOOK_MS, before).unref();
        const { code, namespaces, now, seed, input } = job;
        const { calls: most, valueBytes, logBytes } = job.bounds;
        const given = { code, namespaces, now, seed: toSeed(seed), calls: most, valueBytes, logBytes };
        place.process.send({ kind: "start", ...given, ...(input !== undefined && { input }) });
        prepare();
      }

      if (closed) settle(new ArsenalError("CLOSED", "This arsenal was closed."));
      else if (job.signal.aborted) onAbort();
      else {
        job.signal.addEventListener("abort", onAbort, { once: true });
        waiting.push({ job, begin: () => void begin().catch((error: Error) => settle(error)) });
        next();
      }
      return {
        ended,
        reply: (replies) => {
          if (replies.length > 0 && !isOver) place?.process.send({ kind: "replies", replies });
        },
        stop: fail,
      };
    },
    async close() {
      closed = true;
      for (const place of places) discard(place);
      waiting = [];
      spare = undefined;
    },
  };
}

/** Checks the size of a value. The guest shortens values itself, so a larger value comes from a program that left its realm. */
function withinBounds(outcome: Omit<ProgramOutcome, "logs">, bounds: ProgramBounds): Omit<ProgramOutcome, "logs"> {
  const { value = "", truncated = "", error } = outcome;
  const length = value.length + truncated.length + (error?.message.length ?? 0);
  if (length > bounds.valueBytes + MORE_BYTES)
    return { error: { message: "The program returned more than the limit." } };
  try {
    if (value !== "") JSON.parse(value);
    return outcome;
  } catch {
    return { error: { message: "The program returned something that is not JSON." } };
  }
}

function cannotStart(runtime: ProgramRuntime, why: string): ArsenalError {
  const problem = `The sandbox of programs (${runtime} in bubblewrap) cannot start: ${why}.`;
  const fix = "Allow user namespaces for bubblewrap, or set programs.sandbox to quickjs.";
  return fixable("SANDBOX_FAILED", problem, fix, { field: "programs.sandbox", value: runtime, beforeSend: true });
}

function toSeed(seed: string): readonly number[] {
  const bytes = Buffer.from(sha256(seed), "hex");
  return [0, 4, 8, 12].map((at) => bytes.readInt32LE(at));
}

function cancelled({ reason }: AbortSignal): Error {
  return isArsenalError(reason) ? reason : new ArsenalError("CANCELLED", "The program was cancelled.");
}
