import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Limits } from "../../state/limits.port.ts";
import type { Principal } from "../principal.ts";

const MINUTE_MS = 60_000;

/** Counts one search against a remote caller's rate limit. Rejects with RATE_LIMITED and the retry time if it is exhausted. */
export function createSearchLimit({ limits, perMinute }: { readonly limits: Limits; readonly perMinute: number }) {
  return async ({ id, tenant }: Principal): Promise<void> => {
    // Two tenants may have principals with the same name.
    const window = { key: `searches ${JSON.stringify([tenant, id])}`, calls: perMinute, windowMs: MINUTE_MS };
    const admission = await limits.admit({ windows: [window], holdMs: 0 });
    if (admission.admitted) return;
    const { retryAfterMs = MINUTE_MS } = admission;
    const message = `"${id}" searched for tools more than ${perMinute} times in a minute. Try again in ${retryAfterMs} ms.`;
    const fix = "Search less often, or raise security.rates.searches.";
    throw new ArsenalError("RATE_LIMITED", message, { retryAfterMs, fix });
  };
}
