import type { JWTHeaderParameters, JWTPayload } from "jose";

/** Claims that only the proof of a login has. */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash", "s_hash"];

/**
 * Why a verified token is no access token that may be used as it is; undefined where it is one. An ID token tells its client who logged
 * in; whoever can get hold of one must not call tools with it.
 */
export function whyNotAccessToken({ typ }: Pick<JWTHeaderParameters, "typ">, payload: JWTPayload): string | undefined {
  const kind = (typ ?? "jwt").toLowerCase().replace(/^application\//, "");
  if (kind !== "jwt" && kind !== "at+jwt") return "The token is of another kind than an access token.";
  if (ID_TOKEN_CLAIMS.some((claim) => payload[claim] !== undefined)) return "The token is an ID token.";
  const client = payload["azp"] ?? payload["client_id"];
  const audience = [payload.aud ?? []].flat();
  // Only the older kind is ambiguous: RFC 9068 gave access tokens a type of their own so that they are not.
  if (kind === "jwt" && typeof client === "string" && audience.includes(client))
    return "The token is for its own client, as an ID token is.";
  if (payload["cnf"] !== undefined) return "The token is bound to a key, and a bearer cannot prove to hold it.";
  return undefined;
}
