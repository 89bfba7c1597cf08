import type { ServerResponse } from "node:http";
import { failure, type Received } from "../../mcp/message.ts";
import type { RequestId } from "../../mcp/protocol.ts";
import { answerJson } from "../http/answer.ts";
import { retryAfter, shuttingDown, type Work } from "../work.ts";
import { errorBody } from "./plane.ts";

/** Returns true for a request that begins new work. Pings do not, and neither do repeats that continue a call with the client's answers. */
export function beginsWork(received: Received): received is Extract<Received, { readonly kind: "request" }> {
  if (received.kind !== "request") return false;
  const { method, params } = received.message;
  return method !== "ping" && params?.["requestState"] === undefined;
}

/** Refuses a request or a stream during shutdown: a JSON-RPC error with HTTP 503 and `Retry-After`. */
export function refuseNew(
  response: ServerResponse,
  work: Pick<Work, "retryAfterS">,
  id: RequestId | null = null,
): void {
  answerJson(response, 503, failure(id, errorBody(shuttingDown())), retryAfter(work));
}
