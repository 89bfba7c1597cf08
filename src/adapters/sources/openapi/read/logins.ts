import { createUserLogin, type UserLogin } from "../../credentials/user-login.ts";
import type { OpenApiSettings } from "../settings.ts";
import type { ReadOperation } from "./read-document.ts";
import type { Located } from "./servers.ts";

type LoginParts = Pick<Parameters<typeof createUserLogin>[0], "tokens" | "egress" | "secrets" | "clock">;

/** Creates the sign-in of callers for each security scheme whose credentials require it, by the name of the scheme. */
export function createLogins(
  operations: readonly Pick<ReadOperation, "security">[],
  { name: source, credentials = {} }: Pick<OpenApiSettings, "name" | "credentials">,
  locate: (url: string) => Located | undefined,
  parts: LoginParts,
): ReadonlyMap<string, UserLogin> {
  const required = operations.flatMap(({ security }) => security.flat());
  const logins = new Map<string, UserLogin>();
  for (const [scheme, credential] of Object.entries(credentials)) {
    if (typeof credential !== "object" || !("account" in credential)) continue;
    const uses = required.filter(({ name }) => name === scheme);
    const declared = uses[0]?.scheme;
    const flow = declared?.type === "oauth2" ? declared.login : undefined;
    const authorization = located(credential.authorizationUrl, flow?.authorizationUrl, locate);
    const token = located(credential.tokenUrl, flow?.tokenUrl, locate);
    // Calls report the missing settings.
    if (authorization === undefined || token === undefined) continue;
    const scopes = credential.scopes ?? [...new Set(uses.flatMap((each) => each.scopes))];
    const addresses = { authorizationUrl: authorization.url, tokenUrl: token, scopes };
    logins.set(scheme, createUserLogin({ ...parts, source, scheme, credential, addresses }));
  }
  return logins;
}

/** Returns the address in the settings, which is trusted, or else the address in the document. */
function located(
  own: string | undefined,
  declared: string | undefined,
  locate: (url: string) => Located | undefined,
): Located | undefined {
  if (own === undefined && declared === undefined) return undefined;
  const found = own === undefined ? locate(declared ?? "") : { url: own, trusted: true };
  // A browser opens this address, so it must be a web address.
  return /^https?:$/.test(URL.parse(found?.url ?? "")?.protocol ?? "") ? found : undefined;
}
