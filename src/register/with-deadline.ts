import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";

/** Runs a task with a timeout. `explain` adds a likely reason to the error. A task that ignores the signal is abandoned. */
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
  // Started inside a promise, so that a synchronous exception also rejects.
  return untilAborted(
    Promise.resolve().then(() => task(signal)),
    signal,
  ).finally(cancel);
}
