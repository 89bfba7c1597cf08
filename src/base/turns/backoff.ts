/** How the waits between attempts grow. */
export interface Backoff {
  /** The wait after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** Defaults to no bound. */
  readonly longestMs?: number;
  /** Each wait is this many times the one before. Defaults to 2. */
  readonly factor?: number;
  /** In [0, 1). Spreads a wait over its upper half, so that callers that failed together do not return together. */
  readonly random?: (() => number) | undefined;
}

/** Returns the wait before the next attempt, in milliseconds. `failures` is 0 after the first failure. */
export function backoffMs(failures: number, { firstMs, longestMs = Infinity, factor = 2, random }: Backoff): number {
  const wait = Math.min(longestMs, firstMs * factor ** failures);
  return random === undefined ? wait : wait * (0.5 + random() / 2);
}
