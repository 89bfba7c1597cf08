import type { Tool } from "../tool/tool.ts";
import { type Ended, timeLeftMs, type WaitLimits } from "./deadline.ts";
import { createPermits, type Permits } from "./permits.ts";
import type { EngineSettings } from "./settings.ts";

/** Limits how many calls run at once, in each ensemble and in all. */
export interface Concurrency {
  /** Waits for the ensemble's permit, then the global one. The value gives both back and may be called once. */
  take(
    tool: Tool,
    ensembleLimit: number | undefined,
    limits: WaitLimits,
  ): Promise<Ended<() => void>> | Ended<() => void>;
}

/**
 * Creates the global permits; an ensemble's are created at its first call. Where nobody says otherwise an ensemble has one place less than
 * there are, so that a server that answers nothing any more leaves the others one.
 */
export function createConcurrency(settings: EngineSettings): Concurrency {
  const all = createPermits(settings.maxConcurrent);
  const byEnsemble = new Map<string, { readonly permits: Permits; limit: number }>();
  const defaultLimit = settings.maxConcurrentPerEnsemble ?? Math.max(1, settings.maxConcurrent - 1);

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
      const own = tool.ensemble === undefined ? undefined : permitsOf(tool.ensemble, ensembleLimit ?? defaultLimit);
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

/** Waits for the permits in their order. `held` is one already taken, given back where the wait ends in vain. */
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
