import { anyIdentity } from "../../guard/identity/any-identity.ts";
import type { Egress } from "../../guard/egress/egress.ts";
import type { Identity } from "../../guard/identity.port.ts";
import type { CallerJwtConfig } from "../config.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/**
 * Knows the callers that the configuration, or `token` from the environment, gives a way to prove themselves; undefined where neither gives
 * one. Tokens and keys are asked before an issuer, which may have to be waited for.
 */
export async function configuredIdentity(
  { tokens, auth = {} }: ResolvedConfig["server"],
  { token, egress }: { readonly token?: string | undefined; readonly egress?: Egress } = {},
): Promise<Identity | undefined> {
  const callers = Object.entries({ ...(token === undefined || token === "" ? {} : { operator: token }), ...tokens });
  const identities: Identity[] = [];
  if (callers.length > 0) identities.push(await tokenIdentity(callers));
  if (auth.apiKeys !== undefined) identities.push(await keyIdentity(auth.apiKeys.file));
  if (auth.jwt !== undefined) identities.push(await issuerIdentity(auth.jwt, egress));
  const [first, ...others] = identities;
  return first === undefined ? undefined : anyIdentity([first, ...others]);
}

async function tokenIdentity(callers: readonly (readonly [string, string])[]): Promise<Identity> {
  const { bearerToken } = await import("../../adapters/identity/bearer-token.ts");
  const { CAPABILITIES } = await import("../../tool/tool.ts");
  return bearerToken({
    tokens: callers.map(([id, token]) => ({
      token,
      principal: { id, roles: ["operator"], capabilities: CAPABILITIES, scopes: ["*"], local: false },
    })),
  });
}

async function keyIdentity(file: string): Promise<Identity> {
  const { apiKeyFile } = await import("../../adapters/identity/api-keys/api-keys.ts");
  return apiKeyFile(file);
}

async function issuerIdentity(settings: CallerJwtConfig, egress: Egress | undefined): Promise<Identity> {
  const { jwtIdentity } = await import("../../adapters/identity/jwt/jwt.ts");
  return jwtIdentity({ ...settings, ...(egress === undefined ? {} : { egress }) });
}
