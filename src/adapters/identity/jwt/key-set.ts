import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import type { Clock } from "../../../observe/clock.ts";

/** What a key set stands on. */
export interface KeySetParts {
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
