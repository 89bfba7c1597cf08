import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { prepareCompiler } from "../guest/compile.ts";
import { type InterpretedProgram, isSlowThread, prepareProgram } from "./interpreted-program.ts";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";

const { interpreter, memoryBytes, wake } = workerData as ThreadData;
const port = parentPort as MessagePort;

// Removing types is an experimental part of Node. The warning would appear in the log of the gateway.
process.emitWarning = () => {};

let program: InterpretedProgram | undefined;
/** True while the program waits for calls. */
let isWaiting = false;

function post(message: FromThread): void {
  isWaiting = typeof message === "string";
  port.postMessage(message, []);
  if (typeof message === "object" && message.kind === "ended") void prepare();
}

/** Each program gets memory of its own. */
async function prepare(): Promise<void> {
  program = undefined;
  program = await prepareProgram(interpreter, memoryBytes, post);
  post({ kind: "ready", isSlow: isSlowThread() });
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
