import { randomUUID } from "node:crypto";
import { askAt, type RestAnswer } from "../../serve/rest-gateway.ts";
import type { Called, Caller } from "./clients.ts";

/** A REST call, and how often it was sent. */
export interface RestCalled extends Called {
  /** Times that it was sent: a call with an idempotency key is repeated until a gateway answers. */
  readonly sent: number;
  /** The code of the error that the gateway answered. */
  readonly code?: string;
}

/** How a broken connection looks to a caller: an error of a proxy or of the network. */
export const BROKEN = /HTTP 502|Error POSTing|terminated|socket|no answer|fetch failed/;

/** Sends one call to `/execute`. */
export function sendCall(
  { url, key }: Caller,
  body: { readonly toolName: string; readonly arguments: object; readonly timeoutMs?: number },
  idempotencyKey?: string,
): Promise<RestAnswer> {
  const keyed = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
  return askAt(`${url}/api/v1`)("POST", "/execute", { body, headers: { "x-api-key": key, ...keyed } });
}

/** A client of the REST API. With `repeats`, each call has a key of its own and is repeated until it is answered. */
export function restCaller(caller: Caller, { repeats }: { readonly repeats: boolean }) {
  return async (toolName: string, args: object): Promise<RestCalled> => {
    const idempotencyKey = repeats ? randomUUID() : undefined;
    for (let sent = 1; ; sent++) {
      const outcome = await sendCall(caller, { toolName, arguments: args }, idempotencyKey).then(read, broken);
      if (!repeats || outcome.failed === undefined || !BROKEN.test(outcome.failed)) return { ...outcome, sent };
    }
  };
}

function read({ status, body, text }: RestAnswer): Called & { readonly code?: string } {
  if (body?.status === "success") return { said: body.result.content[0].text as string };
  const code = (body?.error?.code ?? body?.code) as string | undefined;
  return { failed: `HTTP ${status}, ${text === "" ? "no answer" : text}`, ...(code !== undefined && { code }) };
}

function broken(error: Error): Called {
  const { message, cause } = error;
  return { failed: cause instanceof Error ? `${message}: ${cause.message}` : message };
}
