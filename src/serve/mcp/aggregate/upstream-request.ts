import { isInputRequired, type JsonObject, RPC, RpcError } from "../../../adapters/sources/mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream.ts";
import { canBeAsked, type Exchange } from "../plane.ts";
import type { Seal } from "../seal.ts";
import type { LogLevel } from "./log-level.ts";
import { createRelay } from "./relay.ts";
import { createRequestState } from "./request-state.ts";
import { rewriteUris } from "./rewrite-uris.ts";

/** What asking an upstream for a client needs. */
export interface UpstreamRequestParts {
  readonly seal: Seal;
  readonly plane: string;
  readonly sessionLevel: LogLevel | undefined;
}

/** Hands a client's request on to the upstream it is for, with the names in it changed to the upstream's own. */
export async function requestUpstream(
  exchange: Exchange,
  upstream: McpUpstream,
  own: JsonObject,
  parts: UpstreamRequestParts,
): Promise<JsonObject> {
  const { method, peer, signal, ask } = exchange;
  const isModern = peer.era === "modern";
  const state = createRequestState(exchange, exchange.params, parts);
  const params = { ...state.open(exchange.params), ...own };
  const result = await upstream.request(method, params, {
    signal,
    onNotification: createRelay(exchange, parts.sessionLevel).onNotification,
    ...(canBeAsked(peer) ? { ask } : {}),
    ...(isModern ? { passInputRequired: true } : {}),
  });
  if (!isInputRequired(result)) return rewriteUris(result, upstream.name);
  if (isModern) return state.seal(result);
  const message = `${upstream.name} needs an answer that this client cannot be asked for.`;
  throw new RpcError({ code: RPC.internalError, message });
}
