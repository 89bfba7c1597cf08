import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";

/**
 * Runs a task with a time limit. `explain` adds a likely reason to the timeout error. The task's signal stops it; a task that ignores the signal is
 * not awaited.
 */
export async function withDeadline<Result>(
  task: (signal: AbortSignal) => Promise<Result>,
  options: {
    readonly clock: Clock;
    readonly ms: number;
    readonly signal?: AbortSignal;
    readonly doing: string;
    readonly explain?: () => string;
  },
): Promise<Result> {
  const { clock, ms, signal: given, doing, explain = () => "" } = options;
  given?.throwIfAborted();
  const late = new AbortController();
  const tooLate = (): void => late.abort(new ArsenalError("TIMEOUT", `${doing} took longer than ${ms} ms${explain()}`));
  const cancel = clock.after(ms, tooLate);
  const signal = given === undefined ? late.signal : AbortSignal.any([given, late.signal]);
  // The task starts in a promise, so that a synchronous exception rejects too.
  return untilAborted(
    Promise.resolve().then(() => task(signal)),
    signal,
  ).finally(cancel);
}
