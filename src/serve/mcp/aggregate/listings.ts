import { toPromptName } from "./resources/prompt-name.ts";
import { withServedUri } from "./resources/resource-uri.ts";
import { type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import type { Listing, McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Clock } from "../../../observe/clock.ts";
import { mayKnow } from "../guarded-request.ts";
import type { ServedArsenal } from "../../served-arsenal.ts";
import { remember } from "../../../base/remember.ts";

export interface Listed {
  readonly upstream: McpUpstream;
  readonly item: JsonObject;
}

/** Returns everything of one kind that a principal may see. Never rejects: if an upstream fails or is slow, its previous listing is used. */
export type Listings = (listing: ListedKind, principal: Principal) => Promise<readonly Listed[]>;

/** The lists of upstreams except tools, and the member that identifies an entry. */
const NAMED_BY = { resources: "uri", resourceTemplates: "uriTemplate", prompts: "name" } as const;

export type ListedKind = keyof typeof NAMED_BY;

/** How long an upstream's list is waited for. After that, the other lists are shown without it. */
const LIST_DEADLINE_MS = 3_000;

/** Reads the upstreams' lists in parallel. `late` is called when a missing list arrives after the others were shown. */
export function createListings(parts: {
  readonly arsenal: Pick<ServedArsenal, "getTool">;
  readonly upstreams: () => readonly McpUpstream[];
  readonly clock: Clock;
  readonly late: (listing: Listing) => void;
}): Listings {
  const { arsenal, upstreams, clock, late } = parts;
  const lastOf = remember<McpUpstream, Map<Listing, readonly JsonObject[]>>(() => new Map());

  async function read(upstream: McpUpstream, listing: Listing): Promise<readonly JsonObject[]> {
    const items = await upstream.list(listing);
    lastOf(upstream).set(listing, items);
    return items;
  }

  async function inTime(upstream: McpUpstream, listing: Listing): Promise<readonly JsonObject[]> {
    const shown = (): readonly JsonObject[] => lastOf(upstream).get(listing) ?? [];
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

  return async (listing, principal) => {
    const tool = listing === "prompts" ? "prompts/get" : "resources/read";
    const lists = await Promise.all(
      upstreams().map(async (upstream) => {
        if (!(await mayKnow(upstream, tool, principal, arsenal))) return [];
        return (await inTime(upstream, listing)).map((item) => ({ upstream, item }));
      }),
    );
    return lists.flat();
  };
}

/**
 * Returns one of an upstream's lists with the names that clients see. An entry without a name is left out, because a client could refuse the whole
 * list for it.
 */
export async function servedList(
  kind: ListedKind,
  principal: Principal,
  listings: Listings,
): Promise<readonly JsonObject[]> {
  return (await listings(kind, principal)).flatMap(({ upstream, item }) => {
    const named = item[NAMED_BY[kind]];
    if (typeof named !== "string") return [];
    if (kind === "prompts") return [{ ...item, name: toPromptName(upstream.name, named) }];
    const shown = withServedUri(item, upstream.name) as JsonObject;
    return [typeof item["name"] === "string" ? shown : { ...shown, name: named }];
  });
}

/** The number of entries per page. It is large, because many clients never request the second page. */
export const PAGE_SIZE = 1_000;

/** Returns the page of a list at a cursor, and the start of the next page. Without a cursor, returns the first page. */
export function pageOf(key: string, all: readonly unknown[], cursor: unknown): JsonObject {
  const start = cursor === undefined || cursor === null ? 0 : startOf(cursor);
  const end = start + PAGE_SIZE;
  const next = end < all.length ? { nextCursor: Buffer.from(`from:${end}`).toString("base64url") } : {};
  return { [key]: all.slice(start, end), ...next };
}

function startOf(cursor: unknown): number {
  const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("latin1") : "";
  const [, digits] = /^from:([1-9]\d{0,8})$/.exec(text) ?? [];
  if (digits !== undefined) return Number(digits);
  const message = "The cursor is invalid. List again without it.";
  throw new RpcError({ code: RPC.invalidParams, message });
}
