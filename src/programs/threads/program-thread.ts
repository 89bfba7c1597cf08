import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { prepareCompiler } from "../guest/compile.ts";
import { type Interpreter, countMs, isSlowThread, prepareInterpreter } from "./interpreted-program.ts";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";

const { interpreter, memoryBytes, wake } = workerData as ThreadData;
const port = parentPort as MessagePort;

// Removing types is an experimental part of Node. The warning would appear in the log of the gateway.
process.emitWarning = () => {};

let program: Interpreter | undefined;
/** True while the program waits for calls. */
let isWaiting = false;

function post(message: FromThread): void {
  isWaiting = typeof message === "string";
  port.postMessage(message, []);
  // Later, because the interpreter that called this function still reads the state of the program that ended.
  if (typeof message === "object" && message.kind === "ended") queueMicrotask(() => void prepare());
}

/** Gets ready for the next program, which finds nothing of the last one. */
async function prepare(): Promise<void> {
  if (program?.reset() !== true) {
    program = undefined;
    program = await prepareInterpreter(interpreter, memoryBytes, post);
  }
  post({ kind: "ready", isSlow: isSlowThread(), ms: countMs() });
}

function handle(message: ToThread): void {
  isWaiting = false;
  if (typeof message === "string") program?.settle(message);
  else if (message.kind === "start") program?.start(message);
  else void prepare();
}

/** The next message, for which the thread sleeps. Waking it up this way costs less than an event. */
function nextMessage(): ToThread {
  for (;;) {
    const seen = Atomics.load(wake, 0);
    const received = receiveMessageOnPort(port);
    if (received !== undefined) return received.message as ToThread;
    Atomics.wait(wake, 0, seen);
  }
}

port.on("message", (message: ToThread) => {
  handle(message);
  while (isWaiting) handle(nextMessage());
});

await prepare();
prepareCompiler();
