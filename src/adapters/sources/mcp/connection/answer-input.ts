import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Ask } from "../../../../mcp/connection.ts";
import { isInputRequired, type JsonObject } from "../../../../mcp/protocol.ts";

/** A server may come back with more questions this often before its request counts as failed. */
const MAX_ROUNDS = 10;

/**
 * Sends a request to a modern server until it is complete: what the server asks for is asked of the caller, question by question, and the same
 * request is sent again with the answers and the server's state, untouched.
 */
export async function answerInput(
  send: (round?: JsonObject) => Promise<JsonObject>,
  question: {
    readonly ask: Ask;
    readonly method: string;
    readonly server: string;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<JsonObject> {
  const { ask, method, server, signal } = question;
  const over = new AbortController();
  const asking = AbortSignal.any(signal === undefined ? [over.signal] : [over.signal, signal]);
  try {
    let result = await send();
    for (let round = 0; isInputRequired(result); round++) {
      if (round === MAX_ROUNDS) {
        const message = `${method} on the MCP server "${server}" still asks for input after ${MAX_ROUNDS} rounds of answers.`;
        throw new ArsenalError("PROTOCOL_ERROR", message, { field: "inputRequests" });
      }
      const { inputRequests, requestState } = result;
      const inputResponses = isPlainObject(inputRequests) ? await answerAll(inputRequests, ask, asking) : undefined;
      result = await send({
        ...(inputResponses === undefined ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState }),
      });
    }
    return result;
  } finally {
    over.abort();
  }
}

async function answerAll(requests: JsonObject, ask: Ask, signal: AbortSignal): Promise<JsonObject> {
  const responses: [string, JsonObject][] = [];
  for (const [key, request] of Object.entries(requests)) {
    if (!isPlainObject(request) || typeof request["method"] !== "string") {
      throw new ArsenalError("PROTOCOL_ERROR", `The server asks for the input "${key}" without saying how.`, {
        field: key,
        value: request,
      });
    }
    const { method, params } = request as { method: string; params?: unknown };
    responses.push([key, await ask(method, isPlainObject(params) ? params : undefined, { signal })]);
  }
  return Object.fromEntries(responses);
}
