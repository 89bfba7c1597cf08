import type { Ask } from "../../mcp/connection.ts";
import { type JsonObject, RpcError, type RequestId, type RpcMessage, type RpcResponse } from "../../mcp/protocol.ts";
import { unaskable } from "./client-abilities.ts";

type Question = Pick<PromiseWithResolvers<JsonObject>, "resolve" | "reject">;

/**
 * Tracks the unanswered questions to one legacy client. Their ids contain `asker`, so that an answer that reaches another process can be passed on.
 */
export function createQuestions(send: (message: RpcMessage, relatedTo?: RequestId) => void, asker?: string) {
  const open = new Map<RequestId, Question>();
  let last = 0;

  return {
    /** Sends a question, which may belong to a request. The question is withdrawn when `ended` fires. */
    ask:
      (relatedTo: RequestId | undefined, ended: AbortSignal, capabilities: JsonObject): Ask =>
      (method, params, options) => {
        const refused = unaskable(method, params, { era: "legacy", capabilities });
        if (refused !== undefined) return Promise.reject(refused);
        const signal = AbortSignal.any([options.signal, ended]);
        if (signal.aborted) return Promise.reject(signal.reason as Error);
        const number = ++last;
        const id = asker === undefined ? number : `${asker}.${number}`;
        return new Promise<JsonObject>((resolve, reject) => {
          const withdraw = (): void => {
            open.delete(id);
            const notice = { requestId: id, reason: "The answer is no longer needed." };
            send({ jsonrpc: "2.0", method: "notifications/cancelled", params: notice }, relatedTo);
            reject(signal.reason as Error);
          };
          const settled = (): void => {
            open.delete(id);
            signal.removeEventListener("abort", withdraw);
          };
          signal.addEventListener("abort", withdraw, { once: true });
          open.set(id, {
            resolve: (result) => (settled(), resolve(result)),
            reject: (error) => (settled(), reject(error)),
          });
          send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }, relatedTo);
        });
      },
    /** Accepts a client's answer. An answer without an open question is ignored. */
    answer(response: RpcResponse): void {
      if (response.id === null) return;
      const question = open.get(response.id);
      if ("error" in response) question?.reject(new RpcError(response.error));
      else question?.resolve(response.result);
    },
  };
}

/** Returns the process that sent the question with this id; undefined if the id does not name a process. */
export function askedBy(id: RequestId | null): string | undefined {
  return typeof id === "string" ? /^(.+)\.\d+$/.exec(id)?.[1] : undefined;
}
