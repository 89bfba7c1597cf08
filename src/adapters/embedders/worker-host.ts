import type { Worker } from "node:worker_threads";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { EncodeJob } from "./encode-queue.ts";

/** What a worker is told. */
export type ToWorker = EncodeJob | { readonly cancel: number };

/** What a worker says: that it can work, or how a job ended. The vectors of a job lie one behind the other. */
export type FromWorker =
  | { readonly loaded: string }
  | { readonly id: number; readonly vectors: Float32Array }
  | { readonly id: number; readonly error: string };

/** Starts a worker when it is needed, keeps it for all who use it, and starts it once more where it dies. */
export interface WorkerHost {
  /** True while a request would be answered without waiting for a worker to load. */
  readonly ready: boolean;
  /** The vectors of texts, one behind the other. */
  encode(job: Omit<EncodeJob, "id">, options?: EncodeOptions): Promise<Float32Array>;
  /** Resolves when the worker can work; rejects where it cannot be brought to. */
  load(background?: boolean): Promise<void>;
  /** Ends the worker. Whatever still waits is rejected. */
  stop(): Promise<void>;
}

/** What ends the wait, and whether anybody waits at all. */
export interface EncodeOptions {
  readonly signal?: AbortSignal;
  readonly background?: boolean;
}

interface Waiting {
  readonly job: EncodeJob;
  readonly background: boolean;
  readonly resolve: (vectors: Float32Array) => void;
  readonly reject: (reason: unknown) => void;
}

/** A worker that dies is started once more, with the jobs it had. One that dies again is not. */
const STARTS = 2;

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message, []);
}

/** A host of one worker at a time, which `start` creates. */
export function createWorkerHost(start: () => Worker): WorkerHost {
  const waiting = new Map<number, Waiting>();
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
    loading.promise.catch(() => {}); // nobody may be waiting
    started.on("message", (message: FromWorker) => receive(message));
    started.on("error", (error) => (cause = error));
    started.on("exit", (code) => {
      if (worker === started) lost(cause ?? new Error(`its thread ended with code ${code}`));
    });
    hold();
    return started;
  }

  /** The process waits for what somebody waits for, and for nothing else of the worker. */
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    failure = new ArsenalError(
      "TRANSPORT_FAILED",
      `The tuned model's worker died twice: ${reason}. Answers come from the static tier.`,
      {
        field: "embedder",
        fix: "Set embedder.tier to static, or report the message with your Node version.",
        cause,
      },
    );
    end(failure);
  }

  function end(reason: ArsenalError): void {
    loading?.reject(reason);
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  }

  return {
    get ready() {
      return ready;
    },

    async encode(given, { signal, background = false } = {}) {
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
      failure ??= new ArsenalError("CLOSED", "The tuned embedder was closed. Create a new one.", {
        fix: "Create a new embedder.",
      });
      end(failure);
      await stopped?.terminate();
    },
  };
}
