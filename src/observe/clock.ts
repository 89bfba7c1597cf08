/** Time. Injected, so that tests control it and never sleep. */
export interface Clock {
  /** Returns milliseconds since the epoch, with fractions. Never decreases. */
  now(): number;
  /** Calls `callback` once, after `ms` milliseconds. Returns a function that cancels the call. A background timer does not keep the process alive. */
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
