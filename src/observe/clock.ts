/** Time, injected so that tests decide what time it is and nothing sleeps. */
export interface Clock {
  /** Milliseconds since the epoch, never running backwards, with fractions. */
  now(): number;
  /** Calls back once after `ms` milliseconds. Returns what cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
