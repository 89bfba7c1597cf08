import { untilAborted } from "../../../base/turns/until-aborted.ts";

export function createRequestQueue(most: number) {
  const urgently: (() => void)[] = [];
  const patiently: (() => void)[] = [];
  let running = 0;

  function next(): void {
    if (running >= most) return;
    const start = urgently.shift() ?? patiently.shift();
    if (start === undefined) return;
    running++;
    start();
  }

  return {
    /**
     * Runs the work when fewer than `most` requests run. Urgent work goes first, because a caller waits for it. Rejects when the signal fires, even
     * in the queue.
     */
    async run<Result>(
      work: () => Promise<Result>,
      { signal, urgent }: { readonly signal: AbortSignal; readonly urgent: boolean },
    ): Promise<Result> {
      const { promise: turn, resolve } = Promise.withResolvers<void>();
      const line = urgent ? urgently : patiently;
      line.push(resolve);
      next();
      try {
        await untilAborted(turn, signal);
      } catch (error) {
        const place = line.indexOf(resolve);
        if (place >= 0) line.splice(place, 1);
        else release(); // the request left the queue at the same moment
        throw error;
      }
      try {
        return await work();
      } finally {
        release();
      }
    },
  };

  function release(): void {
    running--;
    next();
  }
}
