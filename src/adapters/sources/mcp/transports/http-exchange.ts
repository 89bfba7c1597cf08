import { isArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Egress, EgressResponse } from "../../../../guard/egress/egress.ts";
import { hasSecret } from "../../../../guard/secrets/reference.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { Credentials } from "../connection/credentials.ts";
import type { Headers } from "../../../../mcp/headers.ts";
import type { OAuthProvider } from "../oauth/provider.ts";
import type { HttpSettings } from "../settings.ts";
import { readBody } from "./read-body.ts";

export interface ExchangeRequest {
  /** Defaults to the server's own address. */
  readonly url?: URL;
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Headers;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** The most redirects to follow, to any address that the egress rules allow. Defaults to 5. */
  readonly maxRedirects?: number;
}

export interface HttpParts {
  readonly clock: Clock;
  /** The longest message, in bytes. Defaults to 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** The egress, with its own connections. Closing the transport closes them. */
  readonly egress: Egress;
  readonly credentials: Credentials;
  readonly oauth?: OAuthProvider | undefined;
  /** Called when the server's own stream broke and could not be reopened. */
  readonly lost: (error: Error) => void;
}

export const EVENTS_TYPE = "text/event-stream";

/** The most bytes to read of an error response. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

/** Some servers refuse requests without a user agent. */
const USER_AGENT = { "user-agent": "toolarsenal" };

/**
 * Creates a function that makes requests to one server, with the configured headers and a token if the server requires one. The caller must read or
 * destroy the body of each response. Rejects if a secret is missing.
 */
export async function createExchange(
  { url, headers = {} }: HttpSettings,
  { egress, oauth, credentials }: Pick<HttpParts, "egress" | "oauth" | "credentials">,
): Promise<(request: ExchangeRequest) => Promise<EgressResponse>> {
  const address = new URL(url);
  const own = lowerCased(await credentials.fill(headers, "headers"));
  // A secret may change while the connection lasts, so every request reads it again.
  const ownNow = Object.values(headers).some(hasSecret)
    ? async () => lowerCased(await credentials.fill(headers, "headers"))
    : undefined;
  // Headers of the settings or the session must not follow a redirect to another server.
  const secretHeaders = [...Object.keys(own), "mcp-session-id"];

  async function attempt(request: ExchangeRequest, token: string | undefined): Promise<EgressResponse> {
    const { url: to = address, method, headers: given, signal, ...others } = request;
    const current = ownNow === undefined ? own : await ownNow();
    try {
      return await egress.request(to, {
        method,
        headers: {
          ...USER_AGENT,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...current,
          ...given,
        },
        secretHeaders,
        trusted: true,
        maxBytes: Number.POSITIVE_INFINITY,
        ...others,
        ...(signal && { signal }),
      });
    } catch (error) {
      throw systemErrorIn(error);
    }
  }

  if (oauth === undefined) return (request) => attempt(request, undefined);
  const { UnauthorizedError } = await import("@modelcontextprotocol/client");
  return async (request) => {
    try {
      return await oauth.authorized((token) => attempt(request, token), discard);
    } catch (error) {
      // With this error, the SDK's client reports that a person or a token is needed, instead of trying another era.
      throw isArsenalError(error) ? Object.assign(new UnauthorizedError(error.message), { cause: error }) : error;
    }
  };
}

/** Reads an unused response to its end, so its connection can be reused. */
export function discard({ body }: EgressResponse): void {
  body.on("error", () => {});
  body.resume();
}

export function isOk({ status }: EgressResponse): boolean {
  return status >= 200 && status < 300;
}

export function mediaTypeOf({ headers }: EgressResponse): string | undefined {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
}

export async function toRefusal({ status, body }: EgressResponse, server: string): Promise<Error> {
  const { SdkErrorCode, SdkHttpError } = await import("@modelcontextprotocol/client");
  const text = await readBody(body, server, MAX_REFUSAL_BYTES).catch(() => "");
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `it answered HTTP ${status}`, { status, text });
}

/** Returns the underlying system error. `failures.ts` decides its meaning for an MCP request. */
function systemErrorIn(error: unknown): unknown {
  const isSystem = isArsenalError(error) && error.code === "TRANSPORT_FAILED" && error.cause instanceof Error;
  return isSystem ? error.cause : error;
}

function lowerCased(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
