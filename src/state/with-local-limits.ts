import { messageOf } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { CallOutcome, Limits, Pass, QuotaUse } from "./limits.port.ts";
import { createLocalLimits } from "./local-limits.ts";

/** The delay before a failed store is retried, in milliseconds. */
const TRY_AGAIN_MS = 1_000;

/** A breaker that never exists. Deleting it probes the store and changes nothing. */
const NO_BREAKER = "is the state back?";

/** Marks the passes that this process issued on its own. */
const LOCAL = "local:";

/**
 * Limits that survive an outage of their store. During the outage, each process keeps its own rates, slots, breakers and retry budgets: calls
 * continue, and no single process exceeds a limit. The store is retried every second, and then receives pending reports. Emits `state-unavailable`
 * once, and `state-restored` when it works again.
 */
export function withLocalLimits(
  shared: Limits,
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): Limits & { close(): void } {
  const local = createLocalLimits({ clock, ids: LOCAL });
  const openHere = new Set<string>();
  local.watchBreakers(({ key, probeAt }) => void (probeAt === undefined ? openHere.delete(key) : openHere.add(key)));
  /** Reports that the store has not accepted yet. Their slots stay occupied until then. */
  const owed = new Map<Pass, readonly [CallOutcome, (readonly QuotaUse[] | undefined)?]>();
  let awayUntil: number | undefined;
  let closed = false;
  let cancelTry: (() => void) | undefined;

  function failed(error: unknown): void {
    if (closed) return;
    if (awayUntil === undefined)
      emit("state-unavailable", { part: "limits", fails: "open", message: messageOf(error) });
    awayUntil = clock.now() + TRY_AGAIN_MS;
    cancelTry ??= clock.after(TRY_AGAIN_MS, () => void tryAgain(), { background: true });
  }

  function works(): void {
    if (awayUntil === undefined) return;
    awayUntil = undefined;
    for (const key of openHere) local.forget(key);
    emit("state-restored", { part: "limits" });
  }

  async function tryAgain(): Promise<void> {
    cancelTry = undefined;
    try {
      for (const [pass, report] of owed) {
        await shared.release(pass, ...report);
        owed.delete(pass);
      }
      await shared.forget(NO_BREAKER);
      if (!closed) works();
    } catch (error) {
      failed(error);
    }
  }

  /** Uses the store, or this process's own limits while the store is unavailable. Synchronous if the store is. */
  function ask<Answer>(one: (limits: Limits) => Answer | Promise<Answer>): Answer | Promise<Answer> {
    if (awayUntil !== undefined && clock.now() < awayUntil) return one(local);
    try {
      const answer = one(shared);
      if (!(answer instanceof Promise)) return answer;
      return answer.then(
        (value) => (works(), value),
        (error: unknown) => (failed(error), one(local)),
      );
    } catch (error) {
      failed(error);
      return one(local);
    }
  }

  return {
    admit: (request, options) => ask((limits) => limits.admit(request, options)),
    release(pass, ...report) {
      if (pass.id.startsWith(LOCAL)) return local.release(pass, ...report);
      return ask((limits) => {
        if (limits !== local) return limits.release(pass, ...report);
        owed.set(pass, report);
        return {};
      });
    },
    retry: (budget) => ask((limits) => limits.retry(budget)),
    watchBreakers(listener) {
      const ends = [shared.watchBreakers(listener), local.watchBreakers(listener)];
      return () => ends.forEach((end) => end());
    },
    forget(key) {
      local.forget(key);
      return ask((limits) => limits.forget(key));
    },
    close() {
      closed = true;
      cancelTry?.();
      local.close();
    },
  };
}
