import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import type { Clock } from "../../../observe/clock.ts";
import { type Issuer, unusable } from "./issuer.ts";

/** Returns a function that fetches the published keys of an issuer, from `jwksUri` or the address in the issuer's metadata. */
export function createIssuerKeys(issuer: Issuer, jwksUri?: string): () => Promise<JSONWebKeySet> {
  return async () => {
    try {
      const uri = jwksUri ?? issuer.address(await issuer.metadata(), "jwks_uri");
      if (uri === undefined) throw unusable(issuer.name, "its metadata has no usable jwks_uri");
      const { status, body } = await issuer.ask(uri);
      if (status !== 200 || !Array.isArray(body?.["keys"])) throw unusable(issuer.name, `${uri} has no key set`);
      return body as unknown as JSONWebKeySet;
    } catch (error) {
      issuer.forget();
      throw error;
    }
  };
}

/** The shortest interval between two fetches. 1,000 tokens with fake key ids cause only one fetch. */
export const COOL_DOWN_MS = 30_000;

/** Keys are fetched again after this time, so a withdrawn key stops working soon. */
export const FRESH_MS = 600_000;

/** How long the last keys are used while the issuer is unreachable. */
export const USABLE_MS = 3_600_000;

/** Finds the key of a token among the keys of its issuer. Caches the keys and follows their rotation. Rejects if they cannot be fetched. */
export function createKeySet(parts: {
  readonly clock: Clock;
  fetchKeys(): Promise<JSONWebKeySet>;
  /** Returns a function that finds the key for a token's header. Throws if a key is invalid. */
  toLookUp(keys: JSONWebKeySet): JWTVerifyGetKey;
  /** True for the error of a lookup without a matching key. */
  isUnknownKey(error: unknown): boolean;
}): JWTVerifyGetKey {
  const { clock, fetchKeys, toLookUp, isUnknownKey } = parts;
  let held: { readonly lookUp: JWTVerifyGetKey; readonly at: number } | undefined;
  let triedAt = -Infinity;
  let fetching: Promise<JWTVerifyGetKey> | undefined;
  let failure: unknown;

  async function fetchNow(): Promise<JWTVerifyGetKey> {
    triedAt = clock.now();
    try {
      const lookUp = toLookUp(await fetchKeys());
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

  /** Returns undefined if the last successful fetch is too recent for another fetch. */
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
