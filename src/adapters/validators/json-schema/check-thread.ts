import type { Worker } from "node:worker_threads";
import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { Checked, Problem } from "../../../execute/validator.port.ts";
import type { Clock } from "../../../observe/clock.ts";
import { unusableSchema } from "./problems.ts";

/** A job for the thread. Both fields are JSON, which is faster to write than a structured clone. */
export interface ToThread {
  readonly schema: string;
  /** Omitted to only parse the schema. */
  readonly value?: string;
}

export type FromThread =
  | { readonly ready: true }
  | { readonly notes: readonly string[] }
  | { readonly same: true }
  | { readonly filled: string }
  | { readonly problems: readonly Problem[] }
  | { readonly message: string; readonly isToolInvalid: boolean };

interface Job extends PromiseWithResolvers<FromThread> {
  readonly message: ToThread;
}

export type CheckThread = ReturnType<typeof createCheckThread>;

/**
 * Runs checks that would block the event loop, on one thread for all schemas. The thread starts with the first job. It keeps the process alive only
 * during jobs.
 */
export function createCheckThread(parts: {
  /** Starts a thread, which reports when it is ready. */
  readonly start: () => Worker;
  readonly clock: Clock;
  /** The time limit of one job, in milliseconds. A slower thread is ended, and the next job starts a new one. */
  readonly timeLimitMs: number;
}) {
  const { start, clock, timeLimitMs } = parts;
  const queue: Job[] = [];
  let worker: Worker | undefined;
  let isReady = false;
  let current: Job | undefined;
  let cancelTimer: (() => void) | undefined;
  let closed: ArsenalError | undefined;

  function launch(): void {
    const started = start();
    let cause: unknown;
    worker = started;
    isReady = false;
    started.on("message", (message: FromThread) => {
      if (worker !== started) return;
      if ("ready" in message) {
        isReady = true;
        next();
      } else finish((job) => job.resolve(message));
    });
    started.on("error", (error) => (cause = error));
    started.on("exit", (code) => {
      if (worker !== started) return;
      worker = undefined;
      const reason = cause instanceof Error ? cause.message : `it ended with code ${code}`;
      current ??= queue.shift();
      finish((job) => job.reject(unusableSchema(`the thread that checks it died: ${reason}`, cause)));
    });
  }

  /** Sends the next job to the thread, one at a time, so each job has the whole time limit. */
  function next(): void {
    if (current) return;
    const [job] = queue;
    if (!job) return worker?.unref();
    if (!worker) launch();
    worker?.ref();
    if (!isReady) return;
    current = queue.shift();
    cancelTimer = clock.after(timeLimitMs, giveUp);
    worker?.postMessage(job.message, []);
  }

  function giveUp(): void {
    const stuck = worker;
    worker = undefined;
    void stuck?.terminate();
    finish((job) => job.reject(unusableSchema(`checking takes more than ${timeLimitMs} ms`)));
  }

  function finish(settle: (job: Job) => void): void {
    const job = current;
    cancelTimer?.();
    cancelTimer = undefined;
    current = undefined;
    if (job) settle(job);
    next();
  }

  async function ask(message: ToThread): Promise<FromThread> {
    if (closed) throw closed;
    const job: Job = { message, ...Promise.withResolvers<FromThread>() };
    queue.push(job);
    next();
    const answer = await job.promise;
    if (!("message" in answer)) return answer;
    throw answer.isToolInvalid
      ? new ArsenalError("TOOL_INVALID", answer.message, { field: "parameters" })
      : unusableSchema(answer.message);
  }

  return {
    /** Returns the unchecked parts of a schema. Rejects with TOOL_INVALID if the schema is invalid or takes too long. */
    async compile(schema: string): Promise<readonly string[]> {
      const answer = await ask({ schema });
      return "notes" in answer ? answer.notes : [];
    },
    /** Rejects with TOOL_INVALID if the check does not end in time. */
    async check(schema: string, value: unknown): Promise<Checked> {
      const answer = await ask({ schema, value: JSON.stringify(value) });
      if ("problems" in answer) return { valid: false, problems: answer.problems };
      return { valid: true, value: "filled" in answer ? JSON.parse(answer.filled) : value };
    },
    /** Ends the thread. Rejects pending jobs. */
    async close(): Promise<void> {
      closed ??= fixable("CLOSED", "The validator was closed.", "Create a new validator.");
      const stopped = worker;
      worker = undefined;
      for (const job of queue.splice(0)) job.reject(closed);
      finish((job) => job.reject(closed));
      await stopped?.terminate();
    },
  };
}
