import { type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import type { Exchange } from "../plane.ts";
import type { Seal, SealBinding } from "../modern/seal.ts";

/** What an upstream wants back when the client repeats a request, carried by the client and sealed. */
export interface RequestState {
  /** The members of a repeated request for the upstream, its own state among them. Rejects where the client's state is not ours, or not for this request. */
  open(extra: JsonObject): JsonObject;
  /** An upstream's `input_required` result for the client. */
  seal(result: JsonObject): JsonObject;
}

/** The state of one request: good for one caller and one target, such as a tool and its arguments. */
export function createRequestState(
  { peer, method }: Pick<Exchange, "peer" | "method">,
  target: JsonObject,
  { seal, plane }: { readonly seal: Seal; readonly plane: string },
): RequestState {
  const binding: SealBinding = { principal: peer.principal, plane, method, params: target };
  return {
    open(extra) {
      const { requestState: sealed, ...others } = extra;
      if (sealed === undefined) return extra;
      const opened = typeof sealed === "string" ? seal.open(sealed, binding) : undefined;
      if (opened !== undefined) return { ...others, requestState: opened["state"] };
      const message =
        "requestState has expired, was changed, or belongs to another request. Make the request again without it.";
      throw new RpcError({ code: RPC.invalidParams, message });
    },
    seal(result) {
      const { requestState: state } = result;
      return state === undefined ? result : { ...result, requestState: seal.seal({ state }, binding) };
    },
  };
}
