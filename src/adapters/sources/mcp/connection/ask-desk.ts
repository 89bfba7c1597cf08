import { untilAborted } from "../../../../catalog/dense/until-aborted.ts";
import type { Ask } from "../../../../mcp/connection.ts";
import {
  type JsonObject,
  type RequestId,
  RPC,
  RpcError,
  type RpcErrorBody,
  type RpcRequest,
  type RpcResponse,
} from "../../../../mcp/protocol.ts";

/** Where a server's own requests are answered. */
export interface AskDesk {
  readonly take: (request: RpcRequest) => void;
  setAsk(ask: Ask | undefined): void;
  /** Stops answering the server's request of this id. False if none is being answered. */
  cancel(id: unknown): boolean;
  /** Stops answering everything. */
  close(): void;
}

/** A desk that answers with `send`. A ping is answered at once; without an `ask`, anything else is refused as unknown. */
export function createAskDesk(send: (response: RpcResponse) => Promise<void>): AskDesk {
  const answering = new Map<RequestId, AbortController>();
  let current: Ask | undefined;

  /** The answer, or nothing where the server no longer wants one. */
  const answer = async ({ id, method, params }: RpcRequest): Promise<RpcResponse | undefined> => {
    if (method === "ping") return { jsonrpc: "2.0", id, result: {} };
    const ask = current;
    if (ask === undefined) {
      const message = `Method not found: nobody here answers ${method} now.`;
      return { jsonrpc: "2.0", id, error: { code: RPC.methodNotFound, message } };
    }
    const controller = new AbortController();
    answering.set(id, controller);
    const asked = ask(method, params, { signal: controller.signal });
    const response = await untilAborted(asked, controller.signal).then(
      (result: JsonObject): RpcResponse => ({ jsonrpc: "2.0", id, result }),
      (error: unknown): RpcResponse => ({ jsonrpc: "2.0", id, error: toBody(error) }),
    );
    return answering.delete(id) ? response : undefined;
  };

  return {
    take(request) {
      // A server that went away meanwhile need not be told.
      answer(request)
        .then((response) => (response === undefined ? undefined : send(response)))
        .catch(() => {});
    },
    setAsk(ask) {
      current = ask;
      // The question is withdrawn, and the server gets an error instead of waiting forever.
      const reason = new Error("The request that led to this question is over.");
      for (const controller of answering.values()) controller.abort(reason);
    },
    cancel(id) {
      const controller = answering.get(id as RequestId);
      answering.delete(id as RequestId);
      controller?.abort();
      return controller !== undefined;
    },
    close() {
      for (const id of answering.keys()) this.cancel(id);
    },
  };
}

function toBody(error: unknown): RpcErrorBody {
  if (error instanceof RpcError) return error.body;
  return { code: RPC.internalError, message: error instanceof Error ? error.message : String(error) };
}
