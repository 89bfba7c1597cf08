import { isArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Egress, EgressResponse } from "../../../../guard/egress/egress.ts";
import { hasSecret } from "../../../../guard/secrets/reference.ts";
import type { Credentials } from "../connection/credentials.ts";
import type { Headers } from "../../../../mcp/message-headers.ts";
import type { OAuthProvider } from "../oauth/provider.ts";
import type { HttpSettings } from "../settings.ts";

/** One request to the address of an MCP server. */
export interface ExchangeRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Headers;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request and brings its answer, whose body must be read or destroyed. */
export type Exchange = (request: ExchangeRequest) => Promise<EgressResponse>;

/** What requests are sent with. */
export interface ExchangeParts {
  readonly egress: Egress;
  readonly credentials: Credentials;
  /** Where tokens come from, for a server that asks for them. */
  readonly oauth?: OAuthProvider;
  /** Makes the error by which the SDK's client knows that a person or a token is needed, and not another era. */
  readonly toUnauthorized: (cause: Error) => Error;
}

/** Some servers refuse whoever does not say what they are. */
const USER_AGENT = { "user-agent": "toolarsenal" };

/** Requests to one server: with the headers of its settings and, where it wants one, a token. Rejects where a header's secret is missing. */
export async function createExchange(
  { url, headers = {} }: HttpSettings,
  { egress, oauth, credentials, toUnauthorized }: ExchangeParts,
): Promise<Exchange> {
  const address = new URL(url);
  const own = lowerCased(await credentials.fill(headers, "headers"));
  // A secret may be changed while the connection lasts, so it is looked up for each request.
  const ownNow = Object.values(headers).some(hasSecret)
    ? async () => lowerCased(await credentials.fill(headers, "headers"))
    : undefined;
  // What the settings or the session give for this server is not for another one that it redirects to.
  const secretHeaders = [...Object.keys(own), "mcp-session-id"];

  async function attempt(request: ExchangeRequest, token: string | undefined): Promise<EgressResponse> {
    const { method, headers: given, body, signal } = request;
    const current = ownNow === undefined ? own : await ownNow();
    try {
      return await egress.request(address, {
        method,
        headers: {
          ...USER_AGENT,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...current,
          ...given,
        },
        secretHeaders,
        trusted: true,
        maxBytes: Number.POSITIVE_INFINITY,
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw systemErrorIn(error);
    }
  }

  if (oauth === undefined) return (request) => attempt(request, undefined);
  return async (request) => {
    try {
      return await oauth.authorized((token) => attempt(request, token), discard);
    } catch (error) {
      throw isArsenalError(error) ? toUnauthorized(error) : error;
    }
  };
}

/** Reads an answer that says nothing of interest, so that its connection can be used again. */
export function discard({ body }: EgressResponse): void {
  body.on("error", () => {});
  body.resume();
}

/** What happened on the way, without what was made of it: what it means for a request of MCP is said elsewhere. */
function systemErrorIn(error: unknown): unknown {
  const isSystem = isArsenalError(error) && error.code === "TRANSPORT_FAILED" && error.cause instanceof Error;
  return isSystem ? error.cause : error;
}

function lowerCased(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
