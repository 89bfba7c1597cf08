import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import type { Listing } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Exchange, Peer, Push } from "../plane.ts";
import type { Relay } from "./pass-request.ts";
import { subscribe } from "./subscribe.ts";

/** What a client can ask to be told, and the list that it is about. */
const LISTS: readonly { readonly key: string; readonly listings: readonly Listing[]; readonly method: string }[] = [
  { key: "toolsListChanged", listings: ["tools"], method: "notifications/tools/list_changed" },
  { key: "promptsListChanged", listings: ["prompts"], method: "notifications/prompts/list_changed" },
  {
    key: "resourcesListChanged",
    listings: ["resources", "resourceTemplates"],
    method: "notifications/resources/list_changed",
  },
];

/** A stream that listens has no request in whose course its client could be asked. */
const ask: Exchange["ask"] = () =>
  Promise.reject(new ArsenalError("EXECUTION_FAILED", "A client that listens cannot be asked."));

/** Tells a client what its filter asks of one upstream until the signal fires. Returns the part of the filter that is honoured. */
export async function listen(
  relay: Relay,
  filter: JsonObject,
  push: Push,
  { peer, signal }: { readonly peer: Peer; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const wanted = LISTS.filter(({ key }) => filter[key] === true);
  const uris = Array.isArray(filter["resourceSubscriptions"]) ? filter["resourceSubscriptions"].map(String) : [];
  const end = relay.upstream.watch((change) => {
    if (change.kind !== "listed") return;
    const list = wanted.find(({ listings }) => listings.includes(change.listing));
    if (list) push({ jsonrpc: "2.0", method: list.method });
  });
  signal.addEventListener("abort", end, { once: true });
  await Promise.all(uris.map((uri) => subscribe({ params: { uri }, peer, ask }, relay, { until: signal, push })));
  return {
    ...Object.fromEntries(wanted.map(({ key }) => [key, true])),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
  };
}
