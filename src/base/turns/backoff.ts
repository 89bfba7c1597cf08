/** The growth of the waits between attempts. */
export interface Backoff {
  /** The wait after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** Defaults to no bound. */
  readonly longestMs?: number;
  /** The factor between two waits. Defaults to 2. */
  readonly factor?: number;
  /** In [0, 1). Spreads a wait over its upper half, so that callers that failed together do not all retry at the same time. */
  readonly random?: (() => number) | undefined;
}

/** Returns the wait before the next attempt, in milliseconds. `failures` is 0 after the first failure. */
export function backoffMs(failures: number, { firstMs, longestMs = Infinity, factor = 2, random }: Backoff): number {
  const wait = Math.min(longestMs, firstMs * factor ** failures);
  return random === undefined ? wait : wait * (0.5 + random() / 2);
}
