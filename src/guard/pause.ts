import type { Clock } from "../observe/clock.ts";

/** Resolves after a time, with an event or an abort, whichever is first. A pause in the background does not keep the process alive. */
export function pause(
  clock: Clock,
  ms: number,
  {
    signal,
    event,
    ...options
  }: { signal?: AbortSignal | undefined; event?: Promise<unknown> | undefined; background?: boolean },
): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      cancel();
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const cancel = clock.after(ms, over, options);
    signal?.addEventListener("abort", over);
    event?.then(over, over);
  });
}
