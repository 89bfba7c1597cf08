import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";

/** The bounds of a task: a time, and a signal that ends it sooner. */
export interface DeadlineOptions {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal?: AbortSignal;
  readonly doing: string;
}

/** Runs a task that must end in time. Its signal stops the task; a task that ignores the signal is not awaited. */
export function withDeadline<Result>(
  task: (signal: AbortSignal) => Promise<Result>,
  { clock, ms, signal, doing }: DeadlineOptions,
): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const controller = new AbortController();
    const stop = (reason: unknown): void => {
      reject(reason);
      controller.abort(reason);
    };
    const stopWithCaller = (): void => stop(signal?.reason);
    const cancelTimer = clock.after(ms, () => stop(new ArsenalError("TIMEOUT", `${doing} took longer than ${ms} ms`)));
    signal?.addEventListener("abort", stopWithCaller, { once: true });
    // The task starts in a promise, so that one that throws at once rejects like any other.
    Promise.resolve()
      .then(() => (signal?.aborted ? Promise.reject(signal.reason) : task(controller.signal)))
      .then(resolve, reject)
      .finally(() => {
        cancelTimer();
        signal?.removeEventListener("abort", stopWithCaller);
      });
  });
}
