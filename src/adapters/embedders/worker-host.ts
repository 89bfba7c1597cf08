import type { Worker } from "node:worker_threads";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { EncodeJob } from "./encode-queue.ts";

export type ToWorker = EncodeJob | { readonly cancel: number };

/** Messages from a worker: it is ready, or a job has ended. The vectors of a job are concatenated. */
export type FromWorker =
  | { readonly loaded: string }
  | { readonly id: number; readonly vectors: Float32Array }
  | { readonly id: number; readonly error: string };

export type WorkerHost = ReturnType<typeof createWorkerHost>;

interface PendingJob {
  readonly job: EncodeJob;
  readonly background: boolean;
  readonly resolve: (vectors: Float32Array) => void;
  readonly reject: (reason: unknown) => void;
}

/** A worker that dies is restarted once, with its jobs. */
const STARTS = 2;

const send = (worker: Worker, message: ToWorker): void => worker.postMessage(message, []);

export function closedEmbedder(): ArsenalError {
  return fixable("CLOSED", "The tuned embedder was closed.", "Create a new one.");
}

/** Starts a worker on demand, shares it between all users, and restarts it once if it dies. */
export function createWorkerHost(start: () => Worker) {
  const waiting = new Map<number, PendingJob>();
  let worker: Worker | undefined;
  let loading: PromiseWithResolvers<void> | undefined;
  let ready = false;
  let starts = 0;
  let jobs = 0;
  let loaders = 0;
  let failure: ArsenalError | undefined;

  function launch(): Worker {
    starts++;
    let cause: unknown;
    const started = start();
    worker = started;
    loading ??= Promise.withResolvers<void>();
    loading.promise.catch(() => {}); // there may be no waiting caller
    started.on("message", (message: FromWorker) => receive(message));
    started.on("error", (error) => (cause = error));
    started.on("exit", (code) => {
      if (worker === started) lost(cause ?? new Error(`its thread ended with code ${code}`));
    });
    hold();
    return started;
  }

  /** Keeps the process alive only while a caller waits. */
  function hold(): void {
    const isAwaited = loaders > 0 || [...waiting.values()].some(({ background }) => !background);
    if (isAwaited) worker?.ref();
    else worker?.unref();
  }

  function receive(message: FromWorker): void {
    if ("loaded" in message) {
      ready = true;
      loading?.resolve();
      return;
    }
    const job = waiting.get(message.id);
    waiting.delete(message.id);
    hold();
    if ("vectors" in message) job?.resolve(message.vectors);
    else job?.reject(new Error(message.error));
  }

  function lost(cause: unknown): void {
    worker = undefined;
    ready = false;
    if (starts < STARTS) {
      const again = launch();
      for (const { job } of waiting.values()) send(again, job);
      return;
    }
    const problem = `The tuned model's worker died twice: ${messageOf(cause)}. Searches fall back to the static tier.`;
    const fix = "Set embedder.tier to static, or report the message with your Node version.";
    failure = fixable("TRANSPORT_FAILED", problem, fix, { field: "embedder", cause });
    end(failure);
  }

  function end(reason: ArsenalError): void {
    loading?.reject(reason);
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  }

  return {
    /** True if a request would not wait for a worker to load. */
    get ready() {
      return ready;
    },

    /** Returns the vectors of texts, concatenated. */
    async encode(given: Omit<EncodeJob, "id">, options: { signal?: AbortSignal; background?: boolean } = {}) {
      const { signal, background = false } = options;
      signal?.throwIfAborted();
      if (failure) throw failure;
      const current = worker ?? launch();
      const job = { ...given, id: ++jobs };
      const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
      waiting.set(job.id, { job, background, resolve, reject });
      hold();
      send(current, job);
      const onAbort = (): void => {
        waiting.delete(job.id);
        hold();
        if (worker) send(worker, { cancel: job.id });
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        return await promise;
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
    },

    /** Resolves when the worker is ready. Rejects if it fails. */
    async load(background = false) {
      if (failure) throw failure;
      if (!background) loaders++;
      if (!worker) launch();
      hold();
      try {
        await loading?.promise;
      } finally {
        if (!background) loaders--;
        hold();
      }
    },

    async stop() {
      const stopped = worker;
      worker = undefined;
      ready = false;
      failure ??= closedEmbedder();
      end(failure);
      await stopped?.terminate();
    },
  };
}
