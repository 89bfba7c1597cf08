import { constants, setPriority } from "node:os";
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";
import { createMemory, keepMemory, loadInterpreter } from "../../adapters/sandboxes/isolate/interpreter.ts";
import { CHANNEL } from "../guest/channel.ts";
import { type CompiledProgram, compileProgram, type SyntaxProblem } from "../guest/compile.ts";
import { PRELUDE } from "../guest/prelude.ts";
import { createPrinted } from "../guest/printed.ts";
import type { ProgramBounds, ProgramOutcome } from "../program.ts";
import type { FromThread, ToThread } from "./messages.ts";
import { fromRepliesText, toStepText } from "./step-texts.ts";

/** Deeper recursion is an error of the program, well before the thread's own stack overflows. */
const STACK_BYTES = 512 * 1024;

/** Computing time in milliseconds after which a program gets the lowest priority. */
const LONG_MS = 50;

/** QuickJS flags: evaluation as a script with `await`, in strict mode or not, and whether to stop after parsing. */
const SCRIPT = 0;
const ASYNC = 1 << 7;
const COMPILE_ONLY = 1 << 5;

type StartMessage = Extract<ToThread, { readonly kind: "start" }>;

/** False if this Node version cannot measure the processor time of a thread. Then wall time is used. */
const HAS_PROCESSOR_TIME = typeof process.threadCpuUsage === "function";

const processorMs: () => number = HAS_PROCESSOR_TIME
  ? () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1_000;
    }
  : () => performance.now();

let countedMs = processorMs();

/**
 * Returns the processor time of this thread since the previous call, in milliseconds. The operating system updates the time of a running thread only
 * every few milliseconds, or when the thread sleeps. So part of a short program's time is counted with the next program.
 */
export function countMs(): number {
  const before = countedMs;
  countedMs = processorMs();
  return countedMs - before;
}

/** True once this thread has the lowest priority, which is permanent. */
let isSlowed = false;

/** Lowers the priority, so that a program that computes for long does not slow down the gateway. On Linux, only this thread is affected. */
function slowDown(): void {
  isSlowed = true;
  if (process.platform === "linux") setPriority(0, constants.priority.PRIORITY_LOW);
}

export const isSlowThread = (): boolean => isSlowed;

export type Interpreter = Awaited<ReturnType<typeof prepareInterpreter>>;

/**
 * Creates an interpreter with the prelude evaluated. It can run many programs: `reset` restores its initial memory. Creating an interpreter for each
 * program takes five times as long, and leaves V8 so much garbage that collecting it slows down other threads.
 */
export async function prepareInterpreter(
  interpreter: object,
  memoryBytes: number,
  post: (message: FromThread) => void,
) {
  const memory = createMemory(memoryBytes);
  const quickjs = await loadInterpreter(interpreter, memory);
  const runtime = quickjs.newRuntime({ memoryLimitBytes: memoryBytes, maxStackSizeBytes: STACK_BYTES });
  const vm = runtime.newContext();
  let cpuMs = Number.POSITIVE_INFINITY;
  let valueBytes = 0;
  let startedMs = processorMs();
  let halted: string | undefined;
  let hasEnded = false;
  let waiting = 0;
  let logs: string[] = [];
  let printed = createPrinted(0, () => {});
  let promise: QuickJSHandle | undefined;

  runtime.setInterruptHandler(() => {
    const ms = processorMs() - startedMs;
    if (ms > LONG_MS && !isSlowed) slowDown();
    if (ms > cpuMs)
      halted ??= `The program computed for more than ${cpuMs} ms. Let the tools filter and count, or work on fewer items.`;
    return halted !== undefined;
  });

  const print = vm.newFunction("print", (text) => (printed.add(vm.getString(text)) ? vm.true : vm.false));
  const prelude = vm.unwrapResult(vm.evalCode(PRELUDE, "prelude.js"));
  const channel = vm.unwrapResult(vm.evalCode(CHANNEL, "channel.js"));
  const guest = vm.unwrapResult(vm.callFunction(channel, vm.undefined, prelude, print));
  const functionOf = (name: string): QuickJSHandle => vm.getProp(guest, name);
  const [startGuest, takeCalls, settleGuest] = [functionOf("start"), functionOf("take"), functionOf("settle")];
  const finishedOf = functionOf("finished");
  const [valueOf, failureOf, droppedOf] = [functionOf("value"), functionOf("failure"), functionOf("dropped")];

  function parses(code: string, as: CompiledProgram["form"]): SyntaxProblem | undefined {
    const flags = (as === "script" ? SCRIPT | ASYNC : SCRIPT) | COMPILE_ONLY;
    const compiled = vm.evalCode(as === "script" ? code : wrapped(code), "program.ts", flags);
    if (compiled.error === undefined) {
      compiled.value.dispose();
      return undefined;
    }
    return failure(compiled.error);
  }

  function failure(error: QuickJSHandle): { readonly message: string; readonly line?: number } {
    const described = vm.callFunction(failureOf, vm.undefined, error);
    if (described.error !== undefined)
      return { message: "The program ran out of memory, or its error cannot be described." };
    const text = textOf(vm, described.value);
    return text === undefined ? { message: "The program failed." } : JSON.parse(text);
  }

  function runJobs(): void {
    const ran = runtime.executePendingJobs();
    if (ran.error !== undefined) ran.error.dispose();
  }

  /** Passes the next result to the program: the first result of a new text, or the next one of the current text. */
  function pass(text?: string): void {
    const settled = text === undefined ? vm.callFunction(settleGuest, vm.undefined) : withText(text);
    if (settled.error === undefined) return settled.value.dispose();
    const { message } = failure(settled.error);
    end({ error: { message: `The result of a call does not fit into the program: ${message}` } });
  }

  function withText(text: string): ReturnType<typeof vm.callFunction> {
    const given = vm.newString(text);
    const settled = vm.callFunction(settleGuest, vm.undefined, given);
    given.dispose();
    return settled;
  }

  /** Returns the calls that the program made since the previous call of this function, as text, and their number. */
  function taken(): { readonly count: number; readonly calls: string } {
    const text = vm.callFunction(takeCalls, vm.undefined);
    if (text.error !== undefined) {
      halted ??= failure(text.error).message;
      return { count: 0, calls: "" };
    }
    const counted = vm.getString(text.value);
    text.value.dispose();
    const at = counted.indexOf("\n");
    return { count: Number(counted.slice(0, at)), calls: counted.slice(at + 1) };
  }

  /** Reports the calls made, or the end of the program. */
  function report(): void {
    if (hasEnded) return;
    const made = halted === undefined && promise !== undefined ? taken() : undefined;
    if (halted !== undefined) return end({ error: { message: halted } });
    if (made === undefined || promise === undefined) return;
    waiting += made.count;
    // A program that already has its value still waits for the calls that it started.
    if (waiting > 0) return post(toStepText(waiting, made.calls));
    const state = vm.getPromiseState(promise);
    if (state.type === "pending")
      return end({ error: { message: "The program waits for a promise that nothing resolves." } });
    const outcome = state.type === "fulfilled" ? succeeded(state.value) : { error: failure(state.error) };
    if (halted !== undefined) return end({ error: { message: halted } });
    end(outcome);
  }

  function succeeded(result: QuickJSHandle): Omit<ProgramOutcome, "logs"> {
    const written = vm.callFunction(valueOf, vm.undefined, result, vm.newNumber(valueBytes));
    if (written.error !== undefined) {
      const { message, line } = failure(written.error);
      return { error: { message: `The program's value cannot be written as JSON: ${message}`, ...(line && { line }) } };
    }
    const { value: shown, truncated } = JSON.parse(textOf(vm, written.value) ?? "{}");
    return {
      ...(shown !== undefined && { value: JSON.stringify(shown) }),
      ...(truncated !== undefined && { truncated }),
    };
  }

  /** Returns the number of printed lines that were dropped. */
  function dropped(): number | undefined {
    const count = vm.callFunction(droppedOf, vm.undefined);
    return count.error === undefined ? vm.getNumber(count.value) : undefined;
  }

  function end(outcome: Omit<ProgramOutcome, "logs">): void {
    hasEnded = true;
    printed.end(dropped());
    post({ kind: "ended", outcome: { ...outcome, logs }, isSlow: isSlowed, ms: countMs() });
  }

  const restoreMemory = keepMemory(memory);
  return {
    /**
     * Discards the previous program, so that another one can start. All objects of this function were created before the memory was saved, so they
     * stay valid. Returns false if this interpreter cannot be used again.
     */
    reset(): boolean {
      [cpuMs, valueBytes, waiting] = [Number.POSITIVE_INFINITY, 0, 0];
      [halted, hasEnded, promise] = [undefined, false, undefined];
      logs = [];
      return restoreMemory();
    },
    start({ code, namespaces, input, bounds, seed, now, isSlow }: StartMessage): void {
      if (isSlow && !isSlowed) slowDown();
      const limits: ProgramBounds = bounds;
      ({ cpuMs, valueBytes } = limits);
      printed = createPrinted(limits.logBytes, (line) => void logs.push(line));
      startedMs = processorMs();
      // A waiting thread uses no processor time.
      if (!HAS_PROCESSOR_TIME) countMs();
      const given = vm.newString(JSON.stringify({ namespaces, input, seed, now, calls: limits.calls }));
      vm.unwrapResult(vm.callFunction(startGuest, vm.undefined, given)).dispose();
      const compiled = compileProgram(code, parses);
      if (!("code" in compiled)) return end({ error: compiled });
      const { form } = compiled;
      const text = form === "script" ? compiled.code : wrapped(compiled.code);
      const started = vm.evalCode(text, "program.ts", form === "script" ? SCRIPT | ASYNC : SCRIPT);
      const awaited =
        form === "script" && started.error === undefined
          ? vm.callFunction(finishedOf, vm.undefined, started.value)
          : started;
      if (awaited.error === undefined) promise = awaited.value;
      else end({ error: halted === undefined ? failure(awaited.error) : { message: halted } });
      runJobs();
      report();
    },
    /** Passes results on one after the other, so that only their order decides the program's next steps. */
    settle(replies: string): void {
      const { count, list } = fromRepliesText(replies);
      for (let index = 0; index < count; index++) {
        waiting--;
        pass(index === 0 ? list : undefined);
        runJobs();
        if (hasEnded || halted !== undefined) break;
      }
      report();
    },
  };
}

/** The code begins on the first line, so that lines keep their numbers. */
function wrapped(code: string): string {
  return `(async () => {${code}\n})()`;
}

function textOf(vm: QuickJSContext, handle: QuickJSHandle): string | undefined {
  return vm.typeof(handle) === "string" ? vm.getString(handle) : undefined;
}
