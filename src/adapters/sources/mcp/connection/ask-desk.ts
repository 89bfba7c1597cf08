import { untilAborted } from "../../../../base/turns/until-aborted.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import type { Ask } from "../../../../mcp/connection.ts";
import { answer, failure } from "../../../../mcp/message.ts";
import { RPC, RpcError, type RpcErrorBody, type RpcRequest, type RpcResponse } from "../../../../mcp/protocol.ts";

/**
 * Answers requests of a server, and sends the responses with `send`. A ping is answered at once. Without an `ask`, every other request is refused as
 * an unknown method.
 */
export function createAskDesk(send: (response: RpcResponse) => Promise<void>) {
  const answering = new Map<unknown, AbortController>();
  let ask: Ask | undefined;

  /** Returns the response, or undefined if the server no longer wants a response. */
  async function answerTo({ id, method, params }: RpcRequest): Promise<RpcResponse | undefined> {
    if (method === "ping") return answer(id, {});
    if (ask === undefined)
      return failure(id, {
        code: RPC.methodNotFound,
        message: `Method not found: no client can answer ${method} now.`,
      });
    const controller = new AbortController();
    const { signal } = controller;
    answering.set(id, controller);
    const response = await untilAborted(ask(method, params, { signal }), signal).then(
      (result) => answer(id, result),
      (error: unknown) => failure(id, toBody(error)),
    );
    return answering.delete(id) ? response : undefined;
  }

  return {
    take(request: RpcRequest): void {
      // A server that has disconnected needs no response.
      answerTo(request)
        .then((response) => response && send(response))
        .catch(() => {});
    },
    setAsk(given: Ask | undefined): void {
      ask = given;
      // Withdraws the question. The server gets an error instead of waiting forever.
      const reason = new Error("The request that led to this question has ended.");
      for (const controller of answering.values()) controller.abort(reason);
    },
    /** Stops answering the server's request with this id. Returns false if there is no such request. */
    cancel(id: unknown): boolean {
      const controller = answering.get(id);
      answering.delete(id);
      controller?.abort();
      return controller !== undefined;
    },
    close(): void {
      for (const id of answering.keys()) this.cancel(id);
    },
  };
}

function toBody(error: unknown): RpcErrorBody {
  return error instanceof RpcError ? error.body : { code: RPC.internalError, message: messageOf(error) };
}
