import { Worker, type WorkerOptions } from "node:worker_threads";

/** Starts the worker thread whose program is next to the module `from`, in the sources and in the build. */
export function startWorker(program: string, from: string, options: WorkerOptions): Worker {
  const file = new URL(`./${program}.${from.endsWith(".ts") ? "ts" : "js"}`, from);
  // A worker would reject some of the process's flags.
  return new Worker(file, { execArgv: [], ...options });
}
