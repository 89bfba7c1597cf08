import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Ask } from "../../../../mcp/connection.ts";
import { isInputRequired, type JsonObject } from "../../../../mcp/protocol.ts";

/** After this many rounds of questions, the request fails. */
const MAX_ROUNDS = 10;

/** Sends a request to a modern server until it is complete. Passes the server's questions to the caller, and repeats the request with the answers. */
export async function answerInput(
  send: (round?: JsonObject) => Promise<JsonObject>,
  { ask, method, server, signal }: { ask: Ask; method: string; server: string; signal?: AbortSignal | undefined },
): Promise<JsonObject> {
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
        ...(inputResponses && { inputResponses }),
        ...(requestState !== undefined && { requestState }),
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
    const { method, params } = isPlainObject(request) ? request : {};
    if (typeof method !== "string") {
      const message = `The server's request for the input "${key}" has no method.`;
      throw new ArsenalError("PROTOCOL_ERROR", message, { field: key, value: request });
    }
    responses.push([key, await ask(method, isPlainObject(params) ? params : undefined, { signal })]);
  }
  return Object.fromEntries(responses);
}
