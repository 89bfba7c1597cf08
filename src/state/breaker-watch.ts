import type { BreakerChange } from "./limits.port.ts";
import { createListeners, tellAll } from "./topics.ts";

/** An open breaker: when it may be probed, as the store writes it and by this process's clock. */
interface OpenBreaker {
  readonly key: string;
  readonly stored: number | string;
  readonly probeAt: number;
}

/** Tells this process which breakers opened and closed. `follow` asks the store for as long as somebody listens, and returns what ends it. */
export function createBreakerWatch(follow: () => () => void) {
  let known = new Map<string, OpenBreaker>();
  const watchers = createListeners<BreakerChange>(() => {
    const stop = follow();
    return () => {
      stop();
      known = new Map();
    };
  });
  return {
    get isWatched() {
      return watchers.size > 0;
    },
    watch(listener: (change: BreakerChange) => void) {
      for (const { key, probeAt } of known.values()) tellAll([listener], { key, probeAt });
      return watchers.add(listener);
    },
    /** Takes all breakers that are open now. */
    update(open: readonly OpenBreaker[]) {
      if (watchers.size === 0) return;
      const before = known;
      known = new Map(
        open.map((one) => {
          const same = before.get(one.key);
          return [one.key, same?.stored === one.stored ? same : one];
        }),
      );
      for (const key of before.keys()) if (!known.has(key)) watchers.tell({ key });
      for (const [key, one] of known) if (before.get(key) !== one) watchers.tell({ key, probeAt: one.probeAt });
    },
    close: watchers.close,
  };
}
