import type { Worker } from "node:worker_threads";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Checked, Problem } from "../../../execute/validator.port.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { unusableSchema } from "../interpreter/problems.ts";

/** What the thread is asked. Schemas and values travel as JSON: it is written faster than a structured clone. */
export interface ToThread {
  readonly key: number;
  /** Left out where the thread should have it already. */
  readonly schema?: string;
  /** Left out where the schema is only to be compiled. */
  readonly value?: string;
}

/** What it answers. */
export type FromThread =
  | { readonly ready: true }
  | { readonly unknown: true }
  | { readonly notes: readonly string[] }
  | { readonly same: true }
  | { readonly filled: string }
  | { readonly problems: readonly Problem[] }
  | { readonly message: string; readonly isToolInvalid: boolean };

/** Checks what would keep the process from its other work, on one thread that all schemas share. */
export interface CheckThread {
  /** What of the schema is not checked. Rejects with TOOL_INVALID where it does not compile, or not in time. */
  compile(schema: JsonSchema): Promise<readonly string[]>;
  /** Rejects with TOOL_INVALID where the check does not end in time. */
  check(schema: JsonSchema, value: unknown): Promise<Checked>;
  /** Ends the thread. What still waits is rejected. */
  close(): Promise<void>;
}

export interface CheckThreadParts {
  /** Starts a thread, which says that it is ready. */
  readonly start: () => Worker;
  readonly clock: Clock;
  /** Time one schema or one value may take, in milliseconds. The thread that took longer is ended, and another started when needed. */
  readonly timeLimitMs: number;
}

interface Job extends ToThread {
  readonly resolve: (answer: FromThread) => void;
  readonly reject: (reason: unknown) => void;
}

/** A thread, started with the first job. It keeps the process alive only while somebody waits for it. */
export function createCheckThread({ start, clock, timeLimitMs }: CheckThreadParts): CheckThread {
  const keys = new WeakMap<JsonSchema, number>();
  const queue: Job[] = [];
  let lastKey = 0;
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

  /** Gives the thread its next job; one at a time, so that the time limit is each one's own. */
  function next(): void {
    if (current) return;
    const [job] = queue;
    if (!job) return worker?.unref();
    if (!worker) launch();
    worker?.ref();
    if (!isReady) return;
    queue.shift();
    current = job;
    cancelTimer = clock.after(timeLimitMs, giveUp);
    const { resolve: _resolve, reject: _reject, ...message } = job;
    worker?.postMessage(message satisfies ToThread, []);
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

  const ask = (job: ToThread): Promise<FromThread> => {
    if (closed) return Promise.reject(closed);
    const { promise, resolve, reject } = Promise.withResolvers<FromThread>();
    queue.push({ ...job, resolve, reject });
    next();
    return promise;
  };

  /** Sends the schema along only where the thread does not have it, or not any more. */
  async function askAbout(schema: JsonSchema, value?: string): Promise<FromThread> {
    const known = keys.get(schema);
    const key = known ?? ++lastKey;
    const job: ToThread = value === undefined ? { key } : { key, value };
    let answer: FromThread = known === undefined ? { unknown: true } : await ask(job);
    if ("unknown" in answer) {
      keys.set(schema, key);
      answer = await ask({ ...job, schema: JSON.stringify(schema) });
    }
    if (!("message" in answer)) return answer;
    throw answer.isToolInvalid
      ? new ArsenalError("TOOL_INVALID", answer.message, { field: "parameters" })
      : unusableSchema(answer.message);
  }

  return {
    async compile(schema) {
      const answer = await askAbout(schema);
      return "notes" in answer ? answer.notes : [];
    },
    async check(schema, value) {
      const answer = await askAbout(schema, JSON.stringify(value));
      if ("problems" in answer) return { valid: false, problems: answer.problems };
      return { valid: true, value: "filled" in answer ? JSON.parse(answer.filled) : value };
    },
    async close() {
      const fix = "Create a new validator.";
      closed ??= new ArsenalError("CLOSED", `The validator was closed. ${fix}`, { fix });
      const stopped = worker;
      worker = undefined;
      for (const job of queue.splice(0)) job.reject(closed);
      finish((job) => job.reject(closed));
      await stopped?.terminate();
    },
  };
}
