import { isInputRequired, type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { ServeMode } from "../../meta-tools/definitions.ts";
import type { CommonTools } from "../../meta-tools/hybrid-tools.ts";
import type { MetaTools } from "../../meta-tools/meta-tools.ts";
import type { ServedArsenal } from "../../served-arsenal.ts";
import type { Startup } from "../../startup.ts";
import { guardedRequest } from "../guarded-request.ts";
import type { Seal, SealBinding } from "../modern/seal.ts";
import type { ClientQuirks } from "../client-quirks.ts";
import { askOf, type Exchange, type Peer } from "../plane.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Listings } from "./listings.ts";
import { createRelay, type LogLevel } from "./relay.ts";
import { rewriteUris } from "./resources/resource-uri.ts";

export interface AnswerParts {
  readonly arsenal: ServedArsenal;
  readonly upstream: (name: string) => McpUpstream | undefined;
  readonly listings: Listings;
  /** Returns the skills that a principal may read, with the URIs that clients see. */
  readonly skills: (principal: Principal) => Promise<readonly JsonObject[]>;
  readonly hasSkills: () => boolean;
  readonly metaTools: MetaTools;
  readonly mode: ServeMode;
  readonly common: CommonTools;
  readonly startup: Startup;
  readonly quirksOf: (peer: Peer) => ClientQuirks;
  readonly seal: Seal;
  readonly plane: string;
  /** The log level that a legacy client set for its session. */
  readonly sessionLevel: LogLevel | undefined;
}

/** Passes a client's request, under policy, to its upstream. Returns undefined if the client may not see such entries there. */
export async function requestUpstream(
  exchange: Exchange,
  upstream: McpUpstream,
  own: JsonObject,
  parts: AnswerParts,
): Promise<JsonObject | undefined> {
  const state = createRequestState(exchange, exchange.params, parts);
  const params = { ...state.open(exchange.params), ...own };
  const { onNotification } = createRelay(exchange, parts.sessionLevel);
  const context = { onNotification, ...askOf(exchange) };
  const result = await guardedRequest(exchange, { upstream, params, context }, parts.arsenal);
  if (result === undefined) return undefined;
  if (!isInputRequired(result)) return rewriteUris(result, upstream.name);
  if (exchange.peer.era === "modern") return state.seal(result);
  const message = `${upstream.name} needs an answer from the user, but this client does not support questions.`;
  throw new RpcError({ code: RPC.internalError, message });
}

/**
 * Creates request state for an upstream that expects it in a repeated request. The state is sealed, kept by the client, and valid for one caller and
 * one target.
 */
export function createRequestState(
  { peer, method }: Pick<Exchange, "peer" | "method">,
  target: JsonObject,
  { seal, plane }: Pick<AnswerParts, "seal" | "plane">,
) {
  const binding: SealBinding = { principal: peer.principal, plane, method, params: target };
  return {
    /**
     * Returns the members of a repeated request for the upstream, including the upstream's own state. Throws if the client's state belongs to another
     * request.
     */
    open(extra: JsonObject): JsonObject {
      if (extra["requestState"] === undefined) return extra;
      const { requestState: sealed, ...others } = extra;
      const opened = typeof sealed === "string" ? seal.open(sealed, binding) : undefined;
      if (opened !== undefined) return { ...others, requestState: opened["state"] };
      const message =
        "requestState has expired, was changed, or belongs to another request. Repeat the request without it.";
      throw new RpcError({ code: RPC.invalidParams, message });
    },
    /** Returns an upstream's `input_required` result for the client, with sealed state. */
    seal(result: JsonObject): JsonObject {
      const { requestState: state } = result;
      return state === undefined ? result : { ...result, requestState: seal.seal({ state }, binding) };
    },
  };
}
