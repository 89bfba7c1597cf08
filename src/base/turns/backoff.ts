export interface Backoff {
  /** The delay after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** Defaults to no bound. */
  readonly longestMs?: number;
  /** The factor between two delays. Defaults to 2. */
  readonly factor?: number;
  /** Returns numbers in [0, 1). Adds jitter to the upper half of each delay, so that callers that failed together do not retry together. */
  readonly random?: (() => number) | undefined;
}

/** Returns the delay before the next attempt, in milliseconds. `failures` is 0 after the first failure. */
export function backoffMs(failures: number, { firstMs, longestMs = Infinity, factor = 2, random }: Backoff): number {
  const wait = Math.min(longestMs, firstMs * factor ** failures);
  return random === undefined ? wait : wait * (0.5 + random() / 2);
}
