import { text } from "node:stream/consumers";
import { type ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { outsideCalls } from "../../../guard/egress/domain-bound.ts";
import type { Egress } from "../../../guard/egress/egress.ts";
import type { Clock } from "../../../observe/clock.ts";
import { parseObject } from "../parse-object.ts";
import { encodeForForm } from "../openapi/call/write-parameter.ts";

export interface TokenRequest {
  /** The name of the scheme in the document, for messages. */
  readonly scheme: string;
  readonly tokenUrl: string;
  /** True if the operator wrote the address. */
  readonly trusted: boolean;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly sendIn: "header" | "body";
}

/** Access tokens from the client credentials grant of OAuth 2, cached until they expire. */
export type ClientTokens = ReturnType<typeof createClientTokens>;

/** A token is not used in its last 10 seconds, because it could expire on the way. */
const MARGIN_MS = 10_000;
/** The assumed lifetime of a token if the response has none. */
const UNSAID_MS = 300_000;
const MAX_BYTES = 1024 * 1024;

export function createClientTokens(egress: Egress, clock: Clock) {
  const kept = new Map<string, Awaited<ReturnType<typeof ask>>>();
  const asked = new Map<string, ReturnType<typeof ask>>();

  return {
    async get(request: TokenRequest, signal: AbortSignal): Promise<string> {
      const key = JSON.stringify([request.tokenUrl, request.clientId, request.clientSecret, request.scopes]);
      const known = kept.get(key);
      if (known !== undefined && known.until > clock.now()) return known.token;
      // Concurrent calls share one request. The signal of a call ends only that call's wait.
      let asking = asked.get(key);
      if (asking === undefined) {
        // The request belongs to no single call, because all calls share its token.
        asking = outsideCalls(() => ask(request, egress, clock, signal)).finally(() => asked.delete(key));
        asked.set(key, asking);
      }
      const fresh = await asking.catch((error: unknown) => {
        if (isArsenalError(error) && error.code === "CANCELLED" && !signal.aborted)
          return outsideCalls(() => ask(request, egress, clock, signal));
        throw error;
      });
      kept.set(key, fresh);
      return fresh.token;
    },
    /** Forgets a token that the server refused. */
    forget(token: string): void {
      for (const [key, each] of kept) if (each.token === token) kept.delete(key);
    },
  };
}

async function ask(request: TokenRequest, egress: Egress, clock: Clock, signal: AbortSignal) {
  const { clientId, clientSecret, scopes, sendIn, tokenUrl, trusted, scheme } = request;
  const fields = {
    grant_type: "client_credentials",
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(sendIn === "body" && { client_id: clientId, client_secret: clientSecret }),
  };
  const basic = Buffer.from(`${encodeForForm(clientId)}:${encodeForForm(clientSecret)}`).toString("base64");
  const failed = (why: string, cause?: unknown): ArsenalError =>
    fixable("TRANSPORT_FAILED", `No token for ${scheme}: ${why}.`, `Check credentials.${scheme}.`, {
      beforeSend: true,
      cause,
    });
  const answer = await egress
    .request(tokenUrl, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        "user-agent": "toolarsenal",
        ...(sendIn === "header" && { authorization: `Basic ${basic}` }),
      },
      body: String(new URLSearchParams(fields)),
      signal,
      maxBytes: MAX_BYTES,
      // A redirect could send the secret to another host.
      maxRedirects: 0,
      ...(trusted && { allowPrivate: true }),
    })
    .catch((error: unknown) => {
      // The call itself was not sent.
      if (isArsenalError(error) && error.code === "TRANSPORT_FAILED") throw failed(error.message, error);
      throw error;
    });
  const body = await text(answer.body).catch((error: unknown) => {
    throw failed("the answer was lost", error);
  });
  const read = parseObject(body) ?? {};
  const token = read["access_token"];
  if (answer.status < 300 && typeof token === "string" && token !== "") {
    const seconds = Number(read["expires_in"]);
    const lastsMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : UNSAID_MS;
    return { token, until: clock.now() + Math.max(0, lastsMs - MARGIN_MS) };
  }
  const code = typeof read["error"] === "string" && /^[\w-]{1,60}$/.test(read["error"]) ? ` ${read["error"]}` : "";
  throw failed(`the server answered HTTP ${answer.status}${code}`);
}
