import { isInputRequired, type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { guardedRequest } from "../guarded-request.ts";
import { askOf, type Exchange } from "../plane.ts";
import type { Seal } from "../modern/seal.ts";
import { createRelay, type LogLevel } from "./relay.ts";
import { createRequestState } from "./request-state.ts";
import { rewriteUris } from "./resources/resource-uri.ts";
import type { ServedArsenal } from "../../served-arsenal.ts";

/** What asking an upstream for a client needs. */
export interface UpstreamRequestParts {
  readonly arsenal: ServedArsenal;
  readonly seal: Seal;
  readonly plane: string;
  readonly sessionLevel: LogLevel | undefined;
}

/**
 * Hands a client's request on, under policy, to the upstream it is for, with the names in it changed to the upstream's own. Undefined where
 * the client may not know of such things of this upstream.
 */
export async function requestUpstream(
  exchange: Exchange,
  upstream: McpUpstream,
  own: JsonObject,
  parts: UpstreamRequestParts,
): Promise<JsonObject | undefined> {
  const state = createRequestState(exchange, exchange.params, parts);
  const params = { ...state.open(exchange.params), ...own };
  const { onNotification } = createRelay(exchange, parts.sessionLevel);
  const context = { onNotification, ...askOf(exchange) };
  const result = await guardedRequest(exchange, { upstream, params, context }, parts.arsenal);
  if (result === undefined) return undefined;
  if (!isInputRequired(result)) return rewriteUris(result, upstream.name);
  if (exchange.peer.era === "modern") return state.seal(result);
  const message = `${upstream.name} needs an answer that this client cannot be asked for.`;
  throw new RpcError({ code: RPC.internalError, message });
}
