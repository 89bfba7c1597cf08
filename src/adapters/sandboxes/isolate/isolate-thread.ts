import { parentPort, workerData } from "node:worker_threads";
import type { QuickJSContext, QuickJSDeferredPromise, QuickJSHandle } from "quickjs-emscripten-core";
import { saidTooMuch } from "../subprocess/run-process.ts";
import { GUEST } from "./guest.ts";
import { createMemory, loadInterpreter } from "./interpreter.ts";
import type { FromThread, ThreadStart, ToThread } from "./isolate.ts";

/** The most concurrent calls of the host's functions. Further calls are refused, so code cannot flood the program. */
const CALLS_AT_ONCE = 64;

/** Deeper recursion is an error in the code. The limit is well below the thread's own stack. */
const STACK_BYTES = 512 * 1024;

const { interpreter, code, input, functions, limits } = workerData as ThreadStart;
const quickjs = await loadInterpreter(interpreter, createMemory(limits.memoryBytes));
const runtime = quickjs.newRuntime({ memoryLimitBytes: limits.memoryBytes, maxStackSizeBytes: STACK_BYTES });
const context = runtime.newContext();

/** The reason why the interpreter must stop at its next step. Undefined while it may run. */
let halted: string | undefined;
let room = limits.outputBytes;
let computedMs = 0;
let enteredAt = 0;
let calls = 0;
const waiting = new Map<number, QuickJSDeferredPromise>();

runtime.setInterruptHandler(() => {
  if (computedMs + performance.now() - enteredAt > limits.cpuMs)
    halted ??= `It computed for more than ${limits.cpuMs} ms.`;
  return halted !== undefined;
});

const promise = enter(() => begin(context));
parentPort?.on("message", (reply: ToThread) => {
  enter(() => settle(reply));
  look();
});
look();

/** Measures computing time: only the time within the interpreter counts. */
function enter<Result>(step: () => Result): Result {
  enteredAt = performance.now();
  try {
    return step();
  } finally {
    computedMs += performance.now() - enteredAt;
  }
}

/** Starts the code. Returns the interpreter's promise. */
function begin(vm: QuickJSContext): QuickJSHandle | undefined {
  const guest = vm.unwrapResult(vm.evalCode(GUEST, "guest.js"));
  const send = vm.newFunction("send", (name, argument) => call(vm, vm.getString(name), textOf(vm, argument)));
  const write = vm.newFunction("write", (stream, text) => print(vm.getString(stream), vm.getString(text)));
  const names = vm.newString(JSON.stringify(functions));
  const run = vm.unwrapResult(vm.callFunction(guest, vm.undefined, names, send, write));
  const started = vm.callFunction(run, vm.undefined, vm.newString(code), vm.newString(input));
  return started.error ? undefined : started.value;
}

function call(vm: QuickJSContext, name: string, argument: string | undefined): QuickJSHandle {
  if (waiting.size >= CALLS_AT_ONCE)
    throw new Error(`More than ${CALLS_AT_ONCE} calls at once. Await some of them first.`);
  const deferred = vm.newPromise();
  const id = ++calls;
  waiting.set(id, deferred);
  post({ kind: "call", id, name, ...(argument !== undefined && { argument }) });
  return deferred.handle;
}

function print(stream: string, text: string): void {
  spend(text);
  if (halted === undefined) post({ kind: "wrote", stream: stream === "stderr" ? "stderr" : "stdout", text });
}

function spend(text: string): void {
  room -= Buffer.byteLength(text);
  if (room < 0) halted ??= saidTooMuch(limits);
}

function settle(reply: ToThread): void {
  const deferred = waiting.get(reply.id);
  waiting.delete(reply.id);
  if ("error" in reply) deferred?.reject(context.newError(reply.error));
  else deferred?.resolve(reply.value === undefined ? context.undefined : context.newString(reply.value));
}

/** Runs pending jobs, and ends the job if nothing can continue. */
function look(): void {
  const ran = enter(() => runtime.executePendingJobs());
  if (ran.error) ran.error.dispose();
  if (halted !== undefined) return post({ kind: "end", status: "killed", reason: halted });
  if (promise === undefined) return post({ kind: "end", status: "failed", reason: "It could not be started." });
  const state = context.getPromiseState(promise);
  if (state.type === "fulfilled") return finish(textOf(context, state.value) ?? "{}");
  // The interpreter catches the code's own errors. It could not catch this one, because there was no memory left to describe it.
  if (state.type === "rejected") return post({ kind: "end", status: "failed", reason: "InternalError: out of memory" });
  if (waiting.size === 0) post({ kind: "end", status: "failed", reason: "It waits for something that never comes." });
}

function finish(result: string): void {
  spend(result);
  if (halted === undefined) post({ kind: "end", status: "ok", result });
  else post({ kind: "end", status: "killed", reason: halted });
}

function textOf(vm: QuickJSContext, handle: QuickJSHandle): string | undefined {
  return vm.typeof(handle) === "string" ? vm.getString(handle) : undefined;
}

function post(message: FromThread): void {
  parentPort?.postMessage(message, []);
}
