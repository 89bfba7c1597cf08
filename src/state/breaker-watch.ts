import type { BreakerChange } from "./limits.port.ts";
import { createListeners, tellAll } from "./topics.ts";

/** An open breaker. `stored` is the time of its next probe as the store has it. */
interface OpenBreaker {
  readonly key: string;
  readonly stored: number | string;
  readonly probeAt: number;
}

/** Notifies this process when breakers open and close. `follow` polls the store while there are listeners, and returns a function that stops polling. */
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
