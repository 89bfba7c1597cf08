/** Shares one run of a task among callers that arrive while it runs. Each waits with its own signal. Aborted once all callers have cancelled. */
export function createSharedRun<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): (signal?: AbortSignal) => Promise<Result> {
  let running: { readonly result: Promise<Result>; readonly controller: AbortController; waiting: number } | undefined;

  return (signal) => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (running === undefined) {
      const controller = new AbortController();
      const result = work(controller.signal).finally(() => {
        if (running === started) running = undefined;
      });
      const started = { result, controller, waiting: 0 };
      running = started;
    }
    const run = running;
    run.waiting++;
    if (signal === undefined) return run.result;
    return new Promise<Result>((resolve, reject) => {
      const giveUp = (): void => {
        reject(signal.reason);
        if (--run.waiting > 0) return;
        run.controller.abort(signal.reason);
        // Later callers do not join a run that is being aborted.
        if (running === run) running = undefined;
      };
      signal.addEventListener("abort", giveUp, { once: true });
      run.result.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
    });
  };
}
