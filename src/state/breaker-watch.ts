import type { BreakerChange } from "./limits.port.ts";
import { tellAll } from "./topics.ts";

/** An open breaker: when it may be probed, as the store writes it and by this process's clock. */
interface OpenBreaker {
  readonly key: string;
  readonly stored: number | string;
  readonly probeAt: number;
}

/** Tells the listeners of one process which breakers opened and closed, from what the store says now and then. */
export interface BreakerWatch {
  watch(listener: (change: BreakerChange) => void): () => void;
  /** Takes all breakers that are open now. */
  update(open: readonly OpenBreaker[]): void;
  readonly isWatched: boolean;
  close(): void;
}

/** `follow` asks the store for as long as somebody listens. It returns what ends it. */
export function createBreakerWatch(follow: () => () => void): BreakerWatch {
  const watchers = new Set<(change: BreakerChange) => void>();
  let known = new Map<string, OpenBreaker>();
  let stop: (() => void) | undefined;
  return {
    get isWatched() {
      return watchers.size > 0;
    },
    watch(listener) {
      const own = (change: BreakerChange): void => listener(change);
      watchers.add(own);
      for (const { key, probeAt } of known.values()) tellAll([own], { key, probeAt });
      stop ??= follow();
      return () => {
        watchers.delete(own);
        if (watchers.size > 0) return;
        stop?.();
        stop = undefined;
        known = new Map();
      };
    },
    update(open) {
      if (watchers.size === 0) return;
      const before = known;
      known = new Map(
        open.map((one) => {
          const same = before.get(one.key);
          return [one.key, same?.stored === one.stored ? same : one];
        }),
      );
      for (const key of before.keys()) if (!known.has(key)) tellAll(watchers, { key });
      for (const [key, one] of known) if (before.get(key) !== one) tellAll(watchers, { key, probeAt: one.probeAt });
    },
    close: () => stop?.(),
  };
}
