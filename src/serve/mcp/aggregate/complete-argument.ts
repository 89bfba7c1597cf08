import { type JsonObject, RPC, RpcError } from "../../../adapters/sources/mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Exchange } from "../plane.ts";
import { findPrompt } from "./find-prompt.ts";
import type { Listings } from "./listings.ts";
import { findResource } from "./subscriptions.ts";
import { requestUpstream, type UpstreamRequestParts } from "./upstream-request.ts";

/** Answers `completion/complete` by the upstream whose prompt or template the argument belongs to; with nothing where it completes nothing. */
export async function completeArgument(
  exchange: Exchange,
  parts: UpstreamRequestParts & {
    readonly upstream: (name: string) => McpUpstream | undefined;
    readonly listings: Listings;
  },
): Promise<JsonObject> {
  const { upstream, ref } = await findReferred(exchange.params["ref"], parts);
  const { state } = upstream;
  const completes = state.kind !== "connected" || state.server.capabilities["completions"] !== undefined;
  return completes ? requestUpstream(exchange, upstream, { ref }, parts) : { completion: { values: [] } };
}

async function findReferred(
  ref: unknown,
  parts: { readonly upstream: (name: string) => McpUpstream | undefined; readonly listings: Listings },
): Promise<{ readonly upstream: McpUpstream; readonly ref: JsonObject }> {
  if (isPlainObject(ref) && ref["type"] === "ref/prompt") {
    const { upstream, prompt } = await findPrompt(ref["name"], parts);
    return { upstream, ref: { ...ref, name: prompt } };
  }
  if (isPlainObject(ref) && ref["type"] === "ref/resource") {
    const { upstream, uri } = findResource(ref["uri"], parts.upstream);
    return { upstream, ref: { ...ref, uri } };
  }
  const message =
    "ref must be a prompt (ref/prompt, with its name) or a resource template (ref/resource, with its uri).";
  throw new RpcError({ code: RPC.invalidParams, message });
}
