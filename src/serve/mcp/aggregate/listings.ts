import { toPromptName } from "./resources/prompt-name.ts";
import { withServedUri } from "./resources/resource-uri.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import type { Listing, McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Clock } from "../../../observe/clock.ts";
import { mayKnow } from "../guarded-request.ts";
import type { ServedArsenal } from "../../served-arsenal.ts";

/** One thing that an upstream lists. */
export interface Listed {
  readonly upstream: McpUpstream;
  readonly item: JsonObject;
}

/** What the upstreams list beside tools, to whoever asks. */
export interface AllListings {
  /** Without the upstreams whose resources, or prompts, the principal may not know of. */
  seenBy(principal: Principal): Listings;
}

/** What the upstreams list beside tools. */
export interface Listings {
  /** Everything of one kind, in the order of the upstreams. Never rejects: an upstream that fails or is slow has what it last listed. */
  all(listing: Listing): Promise<readonly Listed[]>;
}

/** Time an upstream has for its list before the others' are shown without it. */
const LIST_DEADLINE_MS = 3_000;

/** Reads the upstreams' lists side by side. `late` is told when a list came after it was last shown without it. */
export function createListings({
  arsenal,
  upstreams,
  clock,
  late,
}: {
  readonly arsenal: Pick<ServedArsenal, "getTool">;
  readonly upstreams: () => readonly McpUpstream[];
  readonly clock: Clock;
  readonly late: (listing: Listing) => void;
}): AllListings {
  const last = new WeakMap<McpUpstream, Map<Listing, readonly JsonObject[]>>();

  async function read(upstream: McpUpstream, listing: Listing): Promise<readonly JsonObject[]> {
    const items = await upstream.list(listing);
    let known = last.get(upstream);
    if (known === undefined) last.set(upstream, (known = new Map<Listing, readonly JsonObject[]>()));
    known.set(listing, items);
    return items;
  }

  async function inTime(upstream: McpUpstream, listing: Listing): Promise<readonly JsonObject[]> {
    const shown = (): readonly JsonObject[] => last.get(upstream)?.get(listing) ?? [];
    if (upstream.state.kind === "closed") return [];
    if (upstream.state.kind !== "connected") return shown();
    const { promise: deadline, resolve: endWait } = Promise.withResolvers<undefined>();
    const cancel = clock.after(LIST_DEADLINE_MS, () => endWait(undefined), { background: true });
    const reading = read(upstream, listing);
    const items = await Promise.race([reading.catch(shown), deadline]);
    cancel();
    if (items !== undefined) return items;
    reading.then(
      () => late(listing),
      () => undefined,
    );
    return shown();
  }

  return {
    seenBy: (principal) => ({
      async all(listing) {
        const tool = listing === "prompts" ? "prompts/get" : "resources/read";
        const lists = await Promise.all(
          upstreams().map(async (upstream) => {
            if (!(await mayKnow(upstream, tool, principal, arsenal))) return [];
            return (await inTime(upstream, listing)).map((item) => ({ upstream, item }));
          }),
        );
        return lists.flat();
      },
    }),
  };
}

/** The upstreams' resources as clients know them. What has no URI is left out, or a client could refuse the whole list for it. */
export async function servedResources(listings: Listings): Promise<readonly JsonObject[]> {
  return (await listings.all("resources")).flatMap((listed) => served(listed, "uri"));
}

/** The upstreams' resource templates as clients know them. */
export async function servedTemplates(listings: Listings): Promise<readonly JsonObject[]> {
  return (await listings.all("resourceTemplates")).flatMap((listed) => served(listed, "uriTemplate"));
}

/** The upstreams' prompts as clients know them. */
export async function servedPrompts(listings: Listings): Promise<readonly JsonObject[]> {
  return (await listings.all("prompts")).flatMap(({ upstream, item }) => {
    const { name } = item;
    return typeof name === "string" ? [{ ...item, name: toPromptName(upstream.name, name) }] : [];
  });
}

function served({ upstream, item }: Listed, key: "uri" | "uriTemplate"): readonly JsonObject[] {
  const { [key]: address, name } = item;
  if (typeof address !== "string") return [];
  const shown = withServedUri(item, upstream.name) as JsonObject;
  return [typeof name === "string" ? shown : { ...shown, name: address }];
}
