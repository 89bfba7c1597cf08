/** Time, injected so that tests control it and nothing sleeps. */
export interface Clock {
  /** Milliseconds since the epoch with fractions, never decreasing. */
  now(): number;
  /** Calls back once after `ms` milliseconds. Returns a function that cancels it. A background timer does not keep the process alive. */
  after(ms: number, callback: () => void, options?: { readonly background?: boolean }): () => void;
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(ms, callback, options) {
    const timer = setTimeout(callback, ms);
    if (options?.background === true) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves when the event has happened or the time is over. */
export async function within(ms: number, event: Promise<unknown>, clock: Clock): Promise<void> {
  const { promise: timeIsOver, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  await Promise.race([event, timeIsOver]);
  cancel();
}
