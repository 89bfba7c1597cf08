import type { Clock } from "../../observe/clock.ts";

export type Ended<Value> =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "thrown"; readonly error: unknown }
  | { readonly kind: "timeout" }
  | { readonly kind: "cancelled" };

export interface WaitLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** When all waits of the call must have ended, in milliseconds since the epoch. */
  readonly deadline?: number | undefined;
}

/** Added to the maximum duration of a run, so that a slow process is not mistaken for a dead one. */
const RUN_SLACK_MS = 60_000;

/** Returns the maximum duration of a call after its admission: all attempts and the delays between them. */
export function longestRunMs(timeoutMs: number, maxAttempts: number): number {
  return timeoutMs * 2 * maxAttempts + RUN_SLACK_MS;
}

/** Node fires a longer timer immediately. */
export const LONGEST_TIMER_MS: number = 2_147_483_647;

/** Returns the maximum duration of a wait from now: its timeout, or the time until the deadline if that is shorter. */
export function timeLeftMs({ clock, timeoutMs, deadline }: Omit<WaitLimits, "signal">): number {
  return deadline === undefined ? timeoutMs : Math.max(0, Math.min(timeoutMs, deadline - clock.now()));
}

export function isPastDeadline({ clock, deadline }: Pick<WaitLimits, "clock" | "deadline">): boolean {
  return deadline !== undefined && clock.now() >= deadline;
}

/** Waits until the work settles, the time is over or the caller cancels. In the last two cases, calls `stop`, and abandons work that does not stop. */
export function untilEnd<Value>(
  work: PromiseLike<Value>,
  limits: WaitLimits,
  stop?: (reason: DOMException) => void,
): Promise<Ended<Value>> {
  const { clock, signal } = limits;
  return new Promise((resolve) => {
    let over = false;
    let stopTimer: (() => void) | undefined;
    const end = (ended: Ended<Value>): void => {
      if (over) return;
      over = true;
      stopTimer?.();
      signal?.removeEventListener("abort", cancel);
      resolve(ended);
    };
    const cancel = (): void => {
      end({ kind: "cancelled" });
      stop?.(new DOMException("The caller cancelled the call.", "AbortError"));
    };
    // Both outcomes have handlers, so a late rejection is never unhandled.
    work.then(
      (value) => end({ kind: "value", value }),
      (error: unknown) => end({ kind: "thrown", error }),
    );
    if (signal?.aborted) return cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const timeMs = timeLeftMs(limits);
    stopTimer = clock.after(timeMs, () => {
      end({ kind: "timeout" });
      stop?.(new DOMException(`The call took longer than ${timeMs} ms.`, "TimeoutError"));
    });
  });
}

/** Like `untilEnd`, for work that usually settles in this turn of the event loop. Such work needs no timer and no listener. */
export async function untilEndSoon<Value>(work: Promise<Value>, limits: WaitLimits): Promise<Ended<Value>> {
  if (limits.signal?.aborted) return untilEnd(work, limits);
  const settled = await new Promise<Ended<Value> | undefined>((resolve) => {
    work.then(
      (value) => resolve({ kind: "value", value }),
      (error: unknown) => resolve({ kind: "thrown", error }),
    );
    // Runs after the promise callbacks that are pending now.
    process.nextTick(resolve);
  });
  return settled ?? untilEnd(work, limits);
}

/** Waits for a time. Returns false if the caller cancels first. */
export async function pause(ms: number, { clock, signal }: Pick<WaitLimits, "clock" | "signal">): Promise<boolean> {
  const limits = { clock, signal, timeoutMs: Math.min(ms, LONGEST_TIMER_MS) };
  return (await untilEnd(new Promise<never>(() => {}), limits)).kind === "timeout";
}
