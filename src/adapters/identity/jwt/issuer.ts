import { text } from "node:stream/consumers";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { Egress, EgressRequest } from "../../../guard/egress/egress.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { parseObject } from "../../sources/parse-object.ts";

type Metadata = Readonly<Record<string, unknown>>;

export type Issuer = ReturnType<typeof createIssuer>;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;
const FRESH_MS = 600_000;

/** Creates a client of an issuer. Does not follow redirects. */
export function createIssuer(options: {
  readonly issuer: string;
  /** Configured by the operator, so it may be a private address. */
  readonly jwksUri?: string;
  readonly egress: Egress;
  readonly clock?: Clock;
}) {
  const { issuer, jwksUri, egress, clock = systemClock } = options;
  let kept: { readonly metadata: Metadata; readonly until: number } | undefined;
  let discovering: Promise<Metadata> | undefined;

  /** Sends a request to an address of the issuer. `body` is undefined unless the response is a JSON object. */
  async function ask(url: string, request: Pick<EgressRequest, "method" | "headers" | "body"> = {}) {
    const { status, body } = await egress.request(url, {
      ...request,
      headers: { accept: "application/json", ...request.headers },
      maxRedirects: 0,
      maxBytes: MAX_BYTES,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // The issuer and `jwksUri` are configured by the operator, so they may be private. Other addresses in the metadata may not.
      trusted: url === jwksUri || URL.parse(url)?.origin === new URL(issuer).origin,
    });
    return { status, body: parseObject(await text(body)) };
  }

  async function discover(): Promise<Metadata> {
    for (const url of metadataUrls(issuer)) {
      const { status, body } = await ask(url);
      if (status !== 200 || body === undefined) continue;
      if (body["issuer"] !== issuer) throw unusable(issuer, `its metadata at ${url} names another issuer`);
      kept = { metadata: body, until: clock.now() + FRESH_MS };
      return body;
    }
    throw unusable(issuer, "it has no metadata", "Check server.auth.jwt.issuer, or set jwks_uri.");
  }

  return {
    /** The value of `iss` in its tokens. */
    name: issuer,
    ask,
    /** Returns the issuer's metadata, cached for ten minutes, or until `forget`. */
    async metadata(): Promise<Metadata> {
      if (kept !== undefined && clock.now() < kept.until) return kept.metadata;
      return (discovering ??= discover().finally(() => (discovering = undefined)));
    },
    forget(): void {
      kept = undefined;
    },
    /** Returns an address from the metadata. Undefined if it is missing, or if it is not https although the issuer is remote. */
    address(metadata: Metadata, name: string): string | undefined {
      const { [name]: uri } = metadata;
      return typeof uri === "string" && isSafe(uri, issuer) ? uri : undefined;
    },
  };
}

/** Returns OpenID Connect's address first, then RFC 8414's. */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/** Refuses plain HTTP, which can be intercepted, unless the issuer itself is on this machine. */
function isSafe(uri: string, issuer: string): boolean {
  const { protocol, origin } = URL.parse(uri) ?? {};
  return protocol === "https:" || (protocol === "http:" && origin === new URL(issuer).origin);
}

export function unusable(issuer: string, why: string, fix = "Check the issuer."): ArsenalError {
  const problem = `Cannot use the issuer ${issuer}: ${why}.`;
  return fixable("PROTOCOL_ERROR", problem, fix, { field: "issuer", value: issuer });
}
