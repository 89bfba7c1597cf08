import { guardedRequest } from "../guarded-request.ts";
import type { Exchange, Push } from "../plane.ts";
import { type Relay, unknownTo } from "./pass-request.ts";

/**
 * Tells a client of one resource's changes until the signal fires, on the subscription that everybody shares. Rejects where policy or the
 * server refuses; what others subscribed to is not heard then.
 */
export async function subscribe(
  exchange: Pick<Exchange, "params" | "peer" | "ask">,
  { upstream, arsenal }: Relay,
  { until, push }: { readonly until: AbortSignal; readonly push: Push },
): Promise<void> {
  const { params } = exchange;
  const asked = { ...exchange, method: "resources/subscribe", signal: until };
  const subscribed = await guardedRequest(asked, { upstream, params, context: { until } }, arsenal);
  if (subscribed === undefined) throw unknownTo(asked);
  if (until.aborted) return;
  const end = upstream.watch((change) => {
    if (change.kind !== "notification") return;
    if (change.notification.params?.["uri"] === params["uri"]) push(change.notification);
  });
  until.addEventListener("abort", end, { once: true });
}
