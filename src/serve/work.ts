import { setImmediate as nextTurn } from "node:timers/promises";
import { createOpenSet } from "../base/open-entries.ts";
import { ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../observe/clock.ts";

/** Tracks the running calls on every surface, so that shutting down does not interrupt them. */
export type Work = ReturnType<typeof createWork>;

interface DrainOptions {
  readonly delayMs?: number;
  readonly onDraining?: () => void;
}

/** Time for aborted work to end. */
const CUT_OFF_MS = 1000;

export function createWork(clock: Clock = systemClock) {
  const running = createOpenSet<(reason: unknown) => void>();
  let idle = Promise.withResolvers<void>();
  let ended: Promise<void> | undefined;
  let draining = false;
  const ending = new AbortController();
  let graceEnds = 0;

  async function untilIdle(ms: number): Promise<void> {
    if (running.size === 0) return;
    idle = Promise.withResolvers();
    const stopTimer = clock.after(ms, () => idle.resolve());
    await idle.promise;
    stopTimer();
  }

  async function end(graceMs: number, { delayMs = 0, onDraining }: DrainOptions): Promise<void> {
    if (delayMs > 0) await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
    draining = true;
    graceEnds = clock.now() + graceMs;
    ending.abort(shuttingDown());
    onDraining?.();
    await untilIdle(graceMs);
    graceEnds = 0;
    const cutOff = new ArsenalError("CLOSED", "The gateway shut down before the request ended.");
    for (const abort of running.values()) abort(cutOff);
    await untilIdle(CUT_OFF_MS);
    // The last answers are written before their streams are closed.
    await nextTurn();
  }

  async function track<Result>(abort: (reason: unknown) => void, task: () => Promise<Result>): Promise<Result> {
    if (draining) throw shuttingDown();
    const leave = running.add(abort);
    try {
      return await task();
    } finally {
      leave();
      if (running.size === 0) idle.resolve();
    }
  }

  return {
    /** Runs work that has its own signal. Rejects with `CLOSED` while shutting down. `abort` is called when the time is over. */
    track,
    /** Runs work. Rejects with `CLOSED` while shutting down. The work's signal fires with the given signal, or when the time is over. */
    async run<Result>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      const controller = new AbortController();
      const cancel = (): void => controller.abort(signal.reason);
      if (signal.aborted) cancel();
      signal.addEventListener("abort", cancel, { once: true });
      try {
        return await track(
          (reason) => controller.abort(reason),
          () => task(controller.signal),
        );
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    get pending(): number {
      return running.size;
    },
    /** True once the shutdown has started. */
    get stopping(): boolean {
      return ended !== undefined;
    },
    /** True once new work is refused. */
    get draining(): boolean {
      return draining;
    },
    /** Fires when draining begins, for streams that would otherwise never end. */
    ending: ending.signal as AbortSignal,
    /** Seconds after which a refused caller should retry: the remaining time for running work, at least 1. */
    get retryAfterS(): number {
      return Math.max(1, Math.ceil((graceEnds - clock.now()) / 1000));
    },
    /**
     * Shuts down: after `delayMs`, refuses new work and calls `onDraining`; then waits up to `graceMs` for running work and aborts the rest. Can be
     * called twice.
     */
    drain: (graceMs: number, options: DrainOptions = {}): Promise<void> => (ended ??= end(graceMs, options)),
  };
}

/** Refuses a request that arrives during shutdown. */
export function shuttingDown(): ArsenalError {
  const fix = "Retry in a moment, after the gateway has restarted or at another instance.";
  return fixable("CLOSED", "The gateway is shutting down and accepts no new requests.", fix, { beforeSend: true });
}

/** Returns the header with the time after which a refused request may be repeated. */
export function retryAfter({ retryAfterS }: Pick<Work, "retryAfterS">): { readonly "retry-after": string } {
  return { "retry-after": String(retryAfterS) };
}
