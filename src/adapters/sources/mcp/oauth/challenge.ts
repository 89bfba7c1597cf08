import type { Challenge } from "./credentials.ts";
import type { FetchLike } from "./guarded-fetch.ts";

/** What a refusal's `WWW-Authenticate` header asks for. */
export function challengeOf(response: Response): Challenge {
  const header = response.headers.get("www-authenticate") ?? "";
  const scope = field(header, "scope");
  const resourceMetadataUrl = field(header, "resource_metadata");
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined || !URL.canParse(resourceMetadataUrl) ? {} : { resourceMetadataUrl }),
  };
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
  return response.status === 401 ? challengeOf(response) : {};
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
