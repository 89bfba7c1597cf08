import { RPC, RpcError, type RpcErrorBody } from "../../mcp/protocol.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { toWire } from "../../errors/to-wire.ts";

/** What a client is told of a failure. An unexpected error is told without its message, which could name paths or secrets. */
export function errorBody(error: unknown): RpcErrorBody {
  if (error instanceof RpcError) return error.body;
  if (isArsenalError(error)) {
    const { jsonRpcCode } = toWire(error.code);
    return { code: jsonRpcCode, message: error.message, data: { code: error.code } };
  }
  return { code: RPC.internalError, message: "Internal error: the request could not be answered." };
}
