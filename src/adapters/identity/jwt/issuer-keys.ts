import { text } from "node:stream/consumers";
import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Egress } from "../../../guard/egress/egress.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Clock } from "../../../observe/clock.ts";

/** Where an issuer's keys are. */
export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Found through the issuer's metadata where absent. */
  readonly jwksUri?: string;
  readonly egress: Egress;
}

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/** Makes what fetches the keys that an issuer publishes. Where they are is found out once, and again after a failure. */
export function createIssuerKeys({ issuer, jwksUri, egress }: IssuerKeysOptions): () => Promise<JSONWebKeySet> {
  let found = jwksUri;

  /** The operator wrote the issuer and `jwksUri`, so that they may be private; what the metadata names elsewhere may not. */
  function isTrusted(url: string): boolean {
    return url === jwksUri || URL.parse(url)?.origin === new URL(issuer).origin;
  }

  async function fetchObject(url: string): Promise<Record<string, unknown> | undefined> {
    const { status, body } = await egress.request(url, {
      headers: { accept: "application/json" },
      maxRedirects: 0,
      maxBytes: MAX_BYTES,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      trusted: isTrusted(url),
    });
    if (status !== 200) {
      body.destroy();
      return undefined;
    }
    return toObject(await text(body));
  }

  async function discover(): Promise<string> {
    for (const url of metadataUrls(issuer)) {
      const metadata = await fetchObject(url);
      if (metadata === undefined) continue;
      const { issuer: named, jwks_uri: uri } = metadata;
      if (named !== issuer) throw unusable(issuer, `its metadata at ${url} is of another issuer`);
      if (typeof uri !== "string" || !isSafe(uri, issuer)) throw unusable(issuer, `${url} names no usable jwks_uri`);
      return uri;
    }
    throw unusable(issuer, "it has no metadata", "Check server.auth.jwt.issuer, or set jwks_uri.");
  }

  return async () => {
    try {
      const uri = (found ??= await discover());
      const keys = await fetchObject(uri);
      if (!Array.isArray(keys?.["keys"])) throw unusable(issuer, `${uri} holds no key set`);
      return keys as unknown as JSONWebKeySet;
    } catch (error) {
      found = jwksUri;
      throw error;
    }
  };
}

/** OpenID Connect's place first, then RFC 8414's. */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/** Keys that come over plain HTTP are anybody's, unless the issuer itself is on this machine. */
function isSafe(uri: string, issuer: string): boolean {
  const { protocol, origin } = URL.parse(uri) ?? {};
  return protocol === "https:" || (protocol === "http:" && origin === new URL(issuer).origin);
}

function toObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function unusable(issuer: string, why: string, fix = "Check the issuer."): ArsenalError {
  const message = `The keys of the issuer ${issuer} cannot be read: ${why}. ${fix}`;
  return new ArsenalError("PROTOCOL_ERROR", message, { field: "issuer", value: issuer, fix });
}

/** What a key set stands on. */
interface KeySetParts {
  readonly clock: Clock;
  fetch(): Promise<JSONWebKeySet>;
  /** Makes what finds the key of a token's header among keys; throws on keys that are none. */
  toLookUp(keys: JSONWebKeySet): JWTVerifyGetKey;
  /** True for what a look-up throws where no key fits. */
  isUnknownKey(error: unknown): boolean;
}

/** From one fetch to the next at least, whatever tokens come: 1,000 tokens with invented key ids lead to one. */
export const COOL_DOWN_MS = 30_000;

/** Keys are fetched again after this time, so that one the issuer withdrew is not taken for long. */
export const FRESH_MS = 600_000;

/** Where the issuer cannot be reached, its last keys serve this long. */
export const USABLE_MS = 3_600_000;

/** Finds the key of a token among those of its issuer, which are kept and follow the issuer's rotation. Rejects where they cannot be had. */
export function createKeySet({ clock, fetch, toLookUp, isUnknownKey }: KeySetParts): JWTVerifyGetKey {
  let held: { readonly lookUp: JWTVerifyGetKey; readonly at: number } | undefined;
  let triedAt = -Infinity;
  let fetching: Promise<JWTVerifyGetKey> | undefined;
  let failure: unknown;

  async function fetchNow(): Promise<JWTVerifyGetKey> {
    triedAt = clock.now();
    try {
      const lookUp = toLookUp(await fetch());
      held = { lookUp, at: clock.now() };
      failure = undefined;
      return lookUp;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      fetching = undefined;
    }
  }

  /** Undefined while the last fetch, a good one, is too recent for another. */
  function renew(): Promise<JWTVerifyGetKey> | undefined {
    if (fetching === undefined && clock.now() - triedAt < COOL_DOWN_MS)
      return failure === undefined ? undefined : Promise.reject(failure);
    return (fetching ??= fetchNow());
  }

  async function current(): Promise<JWTVerifyGetKey> {
    const age = held === undefined ? Infinity : clock.now() - held.at;
    if (held !== undefined && age < FRESH_MS) return held.lookUp;
    try {
      return (await renew()) ?? held?.lookUp ?? Promise.reject(failure);
    } catch (error) {
      if (held !== undefined && age < USABLE_MS) return held.lookUp;
      throw error;
    }
  }

  return async (header, token) => {
    const lookUp = await current();
    try {
      return await lookUp(header, token);
    } catch (error) {
      if (!isUnknownKey(error)) throw error;
      const renewed = await renew();
      if (renewed === undefined || renewed === lookUp) throw error;
      return renewed(header, token);
    }
  };
}
