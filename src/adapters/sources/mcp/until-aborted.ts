/** Waits for a task until a signal fires. The task goes on: others may wait for it too. */
export function untilAborted<Result>(task: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return task;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    task.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
