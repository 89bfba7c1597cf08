import type { JsonObject } from "../../../mcp/protocol.ts";
import type { Listed, Listings } from "./listings.ts";
import { toPromptName } from "./resources/prompt-name.ts";
import { withServedUri } from "./resources/rewrite-uris.ts";

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
