import type { JsonObject } from "../../../mcp/protocol.ts";
import { guardedRequest } from "../guarded-request.ts";
import { type Exchange, nobodyToAsk, type Peer, type Push } from "../plane.ts";
import { listChanged, listOf, readFilter, toFilter } from "../subscription.ts";
import { type Relay, unknownTo } from "./pass-request.ts";

/** Tells a client what its filter asks of one upstream until the signal fires. Returns the part of the filter that is honoured. */
export async function listen(
  relay: Relay,
  filter: JsonObject,
  push: Push,
  { peer, signal }: { readonly peer: Peer; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const { lists, uris } = readFilter(filter);
  const end = relay.upstream.watch((change) => {
    if (change.kind !== "listed") return;
    const list = listOf(change.listing);
    if (lists.includes(list)) push(listChanged(list));
  });
  signal.addEventListener("abort", end, { once: true });
  await Promise.all(
    uris.map((uri) => subscribe({ params: { uri }, peer, ask: nobodyToAsk }, relay, { until: signal, push })),
  );
  return toFilter(lists, uris);
}

/** Tells a client of one resource's changes until the signal fires. Rejects if policy or the server refuses. */
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
