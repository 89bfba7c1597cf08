import type { Challenge } from "./credentials.ts";
import type { FetchLike } from "./guarded-fetch.ts";

/** What a refusal's `WWW-Authenticate` header asks for. */
export function challengeOf(header: string | null | undefined): Challenge {
  if (!header) return {};
  const scope = field(header, "scope");
  const resourceMetadataUrl = field(header, "resource_metadata");
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined || !URL.canParse(resourceMetadataUrl) ? {} : { resourceMetadataUrl }),
  };
}

/** True for a refusal because the token has too few rights. */
export function asksForScope(status: number, header: string | null | undefined): boolean {
  return status === 403 && /\berror="?insufficient_scope\b/.test(header ?? "");
}

/** Asks the server what it wants of somebody who comes without a token. */
export async function askForChallenge(serverUrl: string, fetch: FetchLike): Promise<Challenge> {
  const response = await fetch(serverUrl, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    // Starts nothing on either era's servers, whether they know it or not.
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.body?.cancel();
  return response.status === 401 ? challengeOf(response.headers.get("www-authenticate")) : {};
}

/** True where both ask for the same. */
export function isSameChallenge(a: Challenge | undefined, b: Challenge | undefined): boolean {
  return a?.scope === b?.scope && a?.resourceMetadataUrl === b?.resourceMetadataUrl;
}

function field(header: string, name: string): string | undefined {
  const [, quoted, bare] = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,]+))`).exec(header) ?? [];
  const value = quoted ?? bare;
  return value === "" ? undefined : value;
}
