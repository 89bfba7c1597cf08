import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Limits } from "../../state/limits.port.ts";
import type { Principal } from "../principal.ts";

const MINUTE_MS = 60_000;

/** Takes one search from a remote caller's rate. Rejects with RATE_LIMITED, and when to try again, if the last minute had its share. */
export function createSearchLimit({ limits, perMinute }: { readonly limits: Limits; readonly perMinute: number }) {
  return async ({ id, tenant }: Principal): Promise<void> => {
    // Two tenants may have a principal of one name.
    const window = { key: `searches ${JSON.stringify([tenant, id])}`, calls: perMinute, windowMs: MINUTE_MS };
    const admission = await limits.admit({ windows: [window], holdMs: 0 });
    if (admission.admitted) return;
    const { retryAfterMs = MINUTE_MS } = admission;
    const message = `"${id}" searched for tools more than ${perMinute} times in a minute. Try again in ${retryAfterMs} ms.`;
    const fix = "Search less often, or raise security.rates.searches.";
    throw new ArsenalError("RATE_LIMITED", message, { retryAfterMs, fix });
  };
}
