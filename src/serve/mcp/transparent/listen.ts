import type { JsonObject } from "../../../adapters/sources/mcp/protocol.ts";
import type { Listing, McpUpstream } from "../../../adapters/sources/mcp/upstream.ts";
import type { Peer, Push } from "../plane.ts";

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

/** Tells a client what its filter asks of one upstream until the signal fires. Returns the part of the filter that is honoured. */
export async function listen(
  upstream: McpUpstream,
  filter: JsonObject,
  push: Push,
  { signal }: { readonly peer: Peer; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const wanted = LISTS.filter(({ key }) => filter[key] === true);
  const uris = Array.isArray(filter["resourceSubscriptions"]) ? filter["resourceSubscriptions"].map(String) : [];
  const end = upstream.watch((change) => {
    if (change.kind === "listed") {
      const list = wanted.find(({ listings }) => listings.includes(change.listing));
      if (list) push({ jsonrpc: "2.0", method: list.method });
    }
    if (change.kind === "notification" && isUpdateOf(change.notification.params, uris)) push(change.notification);
  });
  signal.addEventListener("abort", end, { once: true });
  await Promise.all(uris.map((uri) => upstream.subscribe(uri, { signal })));
  return {
    ...Object.fromEntries(wanted.map(({ key }) => [key, true])),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
  };
}

function isUpdateOf(params: JsonObject | undefined, uris: readonly string[]): boolean {
  return typeof params?.["uri"] === "string" && uris.includes(params["uri"]);
}
