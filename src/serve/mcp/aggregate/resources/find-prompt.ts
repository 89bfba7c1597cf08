import { RPC, RpcError } from "../../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../../adapters/sources/mcp/upstream/upstream.ts";
import { showValue } from "../../../../errors/show-value.ts";
import type { Listings } from "../listings.ts";
import { fromPromptName, toPromptName } from "./prompt-name.ts";

/** The prompt that a client's name means. Throws the protocol's error where it means none. */
export async function findPrompt(
  name: unknown,
  parts: { readonly upstream: (name: string) => McpUpstream | undefined; readonly listings: Listings },
): Promise<{ readonly upstream: McpUpstream; readonly prompt: string }> {
  if (typeof name === "string") {
    const spelled = fromPromptName(name);
    const upstream = spelled === undefined ? undefined : parts.upstream(spelled.upstream);
    if (spelled !== undefined && upstream !== undefined) return { upstream, prompt: spelled.prompt };
    // What ends in a hash can only be found among those that are listed.
    for (const listed of spelled === undefined ? await parts.listings.all("prompts") : []) {
      const prompt = listed.item["name"];
      if (typeof prompt === "string" && toPromptName(listed.upstream.name, prompt) === name)
        return { upstream: listed.upstream, prompt };
    }
  }
  throw unknownPrompt(name);
}

/** The protocol's error for a prompt that does not exist, or that the client may not know of. */
export function unknownPrompt(name: unknown): RpcError {
  const message = `There is no prompt ${showValue(name)}. Use a name from prompts/list.`;
  return new RpcError({ code: RPC.invalidParams, message });
}
