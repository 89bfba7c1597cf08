/** A fixed number of places, given out in the order they were asked for. */
export interface Permits {
  readonly inUse: number;
  readonly waiting: number;
  /** Takes a place if one is free, which none is while somebody waits. */
  tryAcquire(): boolean;
  /** Waits for a place: true once it is held, false where the signal fired first and the waiter left the queue. */
  acquire(signal: AbortSignal): Promise<boolean>;
  /** Gives a held place back: to the one who has waited longest, where somebody waits. */
  release(): void;
  /** Changes how many places there are. Those held stay held. */
  resize(limit: number): void;
}

/** Creates a fair semaphore. */
export function createPermits(initialLimit: number): Permits {
  let limit = Math.max(1, Math.floor(initialLimit));
  let inUse = 0;
  /** In the order of arrival; a set, so that a waiter can leave from the middle. */
  const queue = new Set<() => void>();

  function admitWaiting(): void {
    for (const admit of queue) {
      if (inUse >= limit) return;
      queue.delete(admit);
      inUse++;
      admit();
    }
  }

  function tryAcquire(): boolean {
    // Whoever waits was given every place that was free, so a free one is nobody's.
    if (inUse >= limit) return false;
    inUse++;
    return true;
  }

  return {
    get inUse() {
      return inUse;
    },
    get waiting() {
      return queue.size;
    },
    tryAcquire,
    acquire(signal) {
      if (signal.aborted) return Promise.resolve(false);
      if (tryAcquire()) return Promise.resolve(true);
      return new Promise((resolve) => {
        const leave = (): void => {
          queue.delete(admit);
          resolve(false);
        };
        const admit = (): void => {
          signal.removeEventListener("abort", leave);
          resolve(true);
        };
        queue.add(admit);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
    release() {
      inUse--;
      admitWaiting();
    },
    resize(newLimit) {
      limit = Math.max(1, Math.floor(newLimit));
      admitWaiting();
    },
  };
}
