import { ArsenalError, type ErrorDetails, fixable } from "../errors/arsenal-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { startWorker } from "../system/start-worker.ts";
import { createTurns } from "../base/turns/in-order.ts";
import type { JudgedCase, PolicyCase } from "./policy-cases.ts";

export interface DraftJob {
  readonly policy: string;
  readonly cases: readonly PolicyCase[];
}

export type JudgedDraft =
  | { readonly judged: readonly JudgedCase[] }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails } };

const TIME_LIMIT_MS = 30_000;

/** Drafts are evaluated one at a time, because each needs its own thread. */
const turns = createTurns();

/**
 * Evaluates cases with a draft in a thread, because compiling thousands of rules would block the process. Rejects with INPUT_INVALID after a timeout.
 */
export function judgeDraft(
  job: DraftJob,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<readonly JudgedCase[]> {
  return turns.take(async () => {
    const answer = await ask(job, clock);
    if ("judged" in answer) return answer.judged;
    throw new ArsenalError(answer.error.code, answer.error.message, answer.error.details);
  });
}

async function ask(job: DraftJob, clock: Clock): Promise<JudgedDraft> {
  const { promise, resolve, reject } = Promise.withResolvers<JudgedDraft>();
  const worker = startWorker("draft-worker", import.meta.url, {
    workerData: JSON.stringify(job),
    name: "toolarsenal-policy-draft",
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  worker.on("message", resolve);
  worker.on("error", () => reject(tooMuch("takes more memory than the limit")));
  worker.on("exit", () => reject(tooMuch("could not be evaluated")));
  const cancel = clock.after(TIME_LIMIT_MS, () => reject(tooMuch(`takes more than ${TIME_LIMIT_MS / 1_000} s`)));
  try {
    return await promise;
  } finally {
    cancel();
    await worker.terminate();
  }
}

function tooMuch(what: string): ArsenalError {
  const fix = "Test fewer rules or fewer cases at once, or run toolarsenal policy test.";
  return fixable("INPUT_INVALID", `The draft ${what}.`, fix, { field: "policy" });
}
