import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Limits } from "../../state/limits.port.ts";
import type { Principal } from "../principal.ts";

const MINUTE_MS = 60_000;

interface CallerRate {
  readonly limits: Pick<Limits, "admit">;
  readonly perMinute: number;
}

/** Returns a function that counts one request of a kind against its caller's rate, and rejects with `refusal` if the rate is exhausted. */
export function createCallerRate({
  limits,
  kind,
  perMinute,
  refusal,
}: CallerRate & {
  readonly kind: string;
  readonly refusal: (caller: Principal, retryAfterMs: number) => ArsenalError;
}) {
  return async (caller: Principal): Promise<void> => {
    // Two tenants may have principals with the same name.
    const key = `${kind} ${JSON.stringify([caller.tenant, caller.id])}`;
    const windows = [{ key, calls: perMinute, windowMs: MINUTE_MS }];
    const admission = await limits.admit({ windows, holdMs: 0 });
    if (!admission.admitted) throw refusal(caller, admission.retryAfterMs ?? MINUTE_MS);
  };
}

/** Counts one search against a remote caller's rate limit. Rejects with RATE_LIMITED and the retry time if it is exhausted. */
export function createSearchLimit({ limits, perMinute }: CallerRate) {
  return createCallerRate({
    limits,
    kind: "searches",
    perMinute,
    refusal({ id }, retryAfterMs) {
      const message = `"${id}" searched for tools more than ${perMinute} times in a minute. Try again in ${retryAfterMs} ms.`;
      const fix = "Search less often, or raise security.rates.searches.";
      return new ArsenalError("RATE_LIMITED", message, { retryAfterMs, fix });
    },
  });
}
