import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { prepareCompiler } from "../guest/compile.ts";
import { type Interpreter, countMs, isSlowThread, prepareInterpreter } from "./interpreted-program.ts";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";

const { interpreter, memoryBytes, wake } = workerData as ThreadData;
const port = parentPort as MessagePort;

// Suppresses the warning that removing types is experimental in Node, which would appear in the gateway's log.
process.emitWarning = () => {};

let program: Interpreter | undefined;
let isWaiting = false;

function post(message: FromThread): void {
  isWaiting = typeof message === "string";
  port.postMessage(message, []);
  // Deferred, because the interpreter that called this function still reads the state of the ended program.
  if (typeof message === "object" && message.kind === "ended") queueMicrotask(() => void prepare());
}

/** Prepares for the next program, which cannot see anything of the previous one. */
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

/** Sleeps until the next message and returns it. This kind of wake-up costs less than an event. */
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
