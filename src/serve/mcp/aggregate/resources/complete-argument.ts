import type { JsonObject, RpcError } from "../../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../../adapters/sources/mcp/upstream/upstream.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { mayKnow, wrongReference } from "../../guarded-request.ts";
import type { Exchange } from "../../plane.ts";
import { findPrompt, unknownPrompt } from "./prompt-name.ts";
import type { Listings } from "../listings.ts";
import { findResource, unknownResource } from "./subscriptions.ts";
import { requestUpstream, type UpstreamRequestParts } from "../upstream-request.ts";

/** What completing an argument needs. */
export interface CompleteParts extends UpstreamRequestParts {
  readonly upstream: (name: string) => McpUpstream | undefined;
  readonly listings: Listings;
}

/** Answers `completion/complete` by the upstream whose prompt or template the argument belongs to; with nothing where it completes nothing. */
export async function completeArgument(exchange: Exchange, parts: CompleteParts): Promise<JsonObject> {
  const { upstream, ref, tool, unknown } = await findReferred(exchange.params["ref"], parts);
  const { state } = upstream;
  const completes = state.kind !== "connected" || state.server.capabilities["completions"] !== undefined;
  const answer = completes
    ? await requestUpstream(exchange, upstream, { ref }, parts)
    : (await mayKnow(upstream, tool, exchange.peer.principal, parts.arsenal))
      ? { completion: { values: [] } }
      : undefined;
  if (answer === undefined) throw unknown();
  return answer;
}

interface Referred {
  readonly upstream: McpUpstream;
  readonly ref: JsonObject;
  /** What the argument is completed for. */
  readonly tool: "prompts/get" | "resources/read";
  /** What a client is told that may not know of it. */
  readonly unknown: () => RpcError;
}

async function findReferred(ref: unknown, parts: CompleteParts): Promise<Referred> {
  if (isPlainObject(ref) && ref["type"] === "ref/prompt") {
    const { upstream, prompt } = await findPrompt(ref["name"], parts);
    const unknown = (): RpcError => unknownPrompt(ref["name"]);
    return { upstream, ref: { ...ref, name: prompt }, tool: "prompts/get", unknown };
  }
  if (isPlainObject(ref) && ref["type"] === "ref/resource") {
    const { upstream, uri } = findResource(ref["uri"], parts.upstream);
    const unknown = (): RpcError => unknownResource(ref["uri"]);
    return { upstream, ref: { ...ref, uri }, tool: "resources/read", unknown };
  }
  throw wrongReference();
}
