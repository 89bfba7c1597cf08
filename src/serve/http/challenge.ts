import type { Identity, Refusal } from "../../guard/identity.port.ts";

/** The `WWW-Authenticate` of a refused caller: what is wrong, which scopes are needed, and where a token can be had. */
export function toChallenge(
  { challenge, tokenOrigin }: Pick<Identity, "challenge" | "tokenOrigin">,
  refusal: Refusal | undefined,
  metadataUrl: string,
): string {
  const scopes = refusal?.error === "insufficient_scope" ? refusal.scopes : (tokenOrigin?.scopes ?? []);
  const parameters = [
    ...(refusal === undefined ? [] : [`error="${refusal.error}"`, `error_description="${refusal.description}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`]),
    ...(tokenOrigin === undefined ? [] : [`resource_metadata="${metadataUrl}"`]),
  ];
  if (parameters.length === 0) return challenge;
  return challenge + (challenge.includes(" ") ? ", " : " ") + parameters.join(", ");
}
