import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { createTurns } from "../../../base/turns/in-order.ts";
import { startWorker } from "../../../system/start-worker.ts";

export interface ReplaceJob {
  readonly pattern: string;
  readonly text: string;
}

/** The time limit for one text, in milliseconds. A slower thread is ended, and the text is withheld. */
const TIME_LIMIT_MS = 10_000;
const IDLE_MS = 10_000;

const turns = createTurns();
let worker: Worker | undefined;
let cancelEnd: (() => void) | undefined;

/** Replaces matches of a pattern in a long text, on one shared thread. Rejects if it takes too long. */
export function replaceInThread(pattern: string, text: string, clock: Clock = systemClock): Promise<string> {
  return turns.take(() => replace({ pattern, text }, clock));
}

async function replace(job: ReplaceJob, clock: Clock): Promise<string> {
  cancelEnd?.();
  const current = (worker ??= start());
  const late = new AbortController();
  const cancel = clock.after(TIME_LIMIT_MS, () => late.abort(new Error("searching a text takes too long")));
  current.ref();
  try {
    const answered = once(current, "message", { signal: late.signal }) as Promise<[string]>;
    current.postMessage(job, []);
    const [replaced] = await answered;
    return replaced;
  } catch (error) {
    end();
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    cancel();
    worker?.unref();
    cancelEnd = clock.after(IDLE_MS, end, { background: true });
  }
}

function end(): void {
  void worker?.terminate();
  worker = undefined;
}

function start(): Worker {
  const started = startWorker("redaction-worker", import.meta.url, { name: "toolarsenal-redaction" });
  // A thread that dies between two texts is restarted for the next text.
  started.on("error", () => {
    if (worker === started) worker = undefined;
  });
  return started;
}
