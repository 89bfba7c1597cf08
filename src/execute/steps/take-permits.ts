import type { Tool } from "../../tool/tool.ts";
import { type Ended, timeLeftMs, type WaitLimits } from "./deadline.ts";
import { createPermits, type Permits } from "../limits/permits.ts";
import type { EngineSettings } from "../settings.ts";

/** Limits how many calls run at once, in each ensemble and in all. */
export interface Concurrency {
  /** Waits for the ensemble's permit, then the global one. The value gives both back and may be called once. */
  take(
    tool: Tool,
    ensembleLimit: number | undefined,
    limits: WaitLimits,
  ): Promise<Ended<() => void>> | Ended<() => void>;
}

/** Calls that run at once in one ensemble unless its settings say otherwise. */
const DEFAULT_PER_ENSEMBLE = 32;

/**
 * Creates the global permits; an ensemble's are created at its first call. No ensemble can take every place. By default two of them cannot
 * either, so two servers that stop answering leave places for a third.
 */
export function createConcurrency(settings: EngineSettings): Concurrency {
  const { maxConcurrent, maxConcurrentPerEnsemble } = settings;
  const all = createPermits(maxConcurrent);
  const byEnsemble = new Map<string, { readonly permits: Permits; limit: number }>();
  const defaultLimit = maxConcurrentPerEnsemble ?? Math.min(DEFAULT_PER_ENSEMBLE, Math.floor((maxConcurrent - 1) / 2));

  function permitsOf(ensemble: string, limit: number): Permits {
    const known = byEnsemble.get(ensemble);
    if (known !== undefined) {
      if (known.limit !== limit) known.permits.resize((known.limit = limit));
      return known.permits;
    }
    const permits = createPermits(limit);
    byEnsemble.set(ensemble, { permits, limit });
    return permits;
  }

  return {
    take(tool, ensembleLimit, limits) {
      const wanted = Math.min(ensembleLimit ?? defaultLimit, maxConcurrent - 1);
      const own = tool.ensemble === undefined ? undefined : permitsOf(tool.ensemble, Math.max(1, wanted));
      const giveBack = (): void => {
        all.release();
        own?.release();
      };
      if (own !== undefined && !own.tryAcquire()) return waitFor([own, all], giveBack, limits);
      if (!all.tryAcquire()) return waitFor([all], giveBack, limits, own);
      return { kind: "value", value: giveBack };
    },
  };
}

/** Waits for the permits in their order. `held` is one already taken, given back if the wait fails. */
async function waitFor(
  wanted: readonly Permits[],
  giveBack: () => void,
  limits: WaitLimits,
  held?: Permits,
): Promise<Ended<() => void>> {
  const taken = held === undefined ? [] : [held];
  const controller = new AbortController();
  let timedOut = false;
  const leave = (): void => controller.abort();
  if (limits.signal?.aborted) leave();
  limits.signal?.addEventListener("abort", leave, { once: true });
  const stopTimer = limits.clock.after(timeLeftMs(limits), () => {
    timedOut = true;
    leave();
  });
  try {
    for (const permits of wanted) {
      if (!(await permits.acquire(controller.signal))) {
        for (const permit of taken) permit.release();
        return { kind: timedOut ? "timeout" : "cancelled" };
      }
      taken.push(permits);
    }
    return { kind: "value", value: giveBack };
  } finally {
    stopTimer();
    limits.signal?.removeEventListener("abort", leave);
  }
}
