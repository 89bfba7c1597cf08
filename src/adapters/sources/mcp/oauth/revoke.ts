import type { ServerCredentials } from "./credentials.ts";
import { oauthParts } from "./provider.ts";
import type { SignInServer } from "./sign-in.ts";

const LONGEST_MS = 5_000;

/**
 * Revokes a person's tokens at the authorization server (RFC 7009), if it supports revocation. Rejects if that fails; the local tokens are already
 * deleted.
 */
export async function revokeTokens(kept: ServerCredentials, { oauth, ...server }: SignInServer): Promise<void> {
  const { issuer = "" } = kept;
  const { tokens, client } = kept.byIssuer[issuer] ?? {};
  const { credentials, createFetch } = oauthParts(oauth, server);
  const fetchFn = await createFetch({ signal: AbortSignal.timeout(LONGEST_MS) });
  const { discoverAuthorizationServerMetadata } = await import("@modelcontextprotocol/client");
  const metadata = await discoverAuthorizationServerMetadata(new URL(issuer), { fetchFn });
  const { revocation_endpoint: endpoint } = (metadata ?? {}) as { readonly revocation_endpoint?: string };
  if (endpoint === undefined) return;
  const { clientId, clientSecret } = await credentials.fillOAuth(oauth);
  const id = clientId ?? client?.client_id ?? "";
  const secret = clientId === undefined ? client?.client_secret : clientSecret;
  // Revoking the refresh token also ends the access tokens that came from it.
  for (const token of [tokens?.refresh_token, tokens?.access_token]) {
    if (token === undefined) continue;
    const body = new URLSearchParams({ token, client_id: id, ...(secret !== undefined && { client_secret: secret }) });
    const response = await fetchFn(endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: body.toString(),
    });
    await response.body?.cancel();
  }
}
