import { fixable, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { onOneLine } from "../../../../observe/event-text.ts";
import { isPerCaller } from "../../../../guard/secrets/reference.ts";
import type { SettingProblem } from "../../source-adapter.ts";
import type { OAuthSettings } from "../settings.ts";
import type { FetchLike } from "./guarded-fetch.ts";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** The part of the SDK's provider that gets a token for an identity without a person. */
export interface IdentityGrant {
  saveAuthorizationServerUrl(url: string): void;
  saveResourceUrl(url: string): void;
  prepareTokenRequest(scope?: string): Promise<URLSearchParams>;
}

/**
 * Exchanges an identity token at the identity provider for a grant (ID-JAG) that the authorization server of one MCP server accepts. Implements the
 * extension `io.modelcontextprotocol/enterprise-managed-authorization`.
 */
export function createIdentityGrant(
  identity: NonNullable<OAuthSettings["identity"]>,
  fetchFn: FetchLike,
  learn: (secret: string) => void,
): IdentityGrant {
  let audience = "";
  let resource = "";
  // The SDK sends the exchange as text. Sent as a form, it is protected like every token request: no redirects, no quoted secrets.
  const sendForm: FetchLike = (url, init = {}) =>
    fetchFn(url, typeof init.body === "string" ? { ...init, body: new URLSearchParams(init.body) } : init);

  return {
    saveAuthorizationServerUrl: (url) => void (audience = url),
    saveResourceUrl: (url) => void (resource = url),
    async prepareTokenRequest(scope) {
      if (resource === "") {
        const problem = "The MCP server has no metadata of a protected resource, which oauth.grant id_jag needs.";
        throw fixable("PROTOCOL_ERROR", problem, "Use another oauth.grant.", { field: "oauth.grant", value: "id_jag" });
      }
      const sdk = await import("@modelcontextprotocol/client");
      const { issuer: idpUrl, tokenUrl: tokenEndpoint, clientId, clientSecret, token: idToken } = identity;
      const request = {
        audience,
        resource,
        clientId,
        idToken,
        fetchFn: sendForm,
        ...(clientSecret !== undefined && { clientSecret }),
        ...(scope !== undefined && { scope }),
      };
      try {
        const { jwtAuthGrant: assertion } =
          tokenEndpoint === undefined
            ? await sdk.discoverAndRequestJwtAuthGrant({ ...request, idpUrl })
            : await sdk.requestJwtAuthorizationGrant({ ...request, tokenEndpoint });
        learn(assertion);
        return new URLSearchParams({ grant_type: JWT_BEARER, assertion, ...(scope !== undefined && { scope }) });
      } catch (error) {
        if (isArsenalError(error)) throw error;
        const why = onOneLine(messageOf(error), 300);
        const problem = `The identity provider ${idpUrl} gave no grant for ${resource}: ${why}.`;
        const fix =
          "Check that oauth.identity.token has not expired, and that the identity provider allows the access.";
        throw fixable("SOURCE_UNAVAILABLE", problem, fix, { field: "oauth.identity" });
      }
    },
  };
}

/** Returns the reason why the settings of an identity cannot be used; undefined if they are valid. */
export function identityProblem(oauth: OAuthSettings): SettingProblem | undefined {
  const { grant, identity, account = "gateway" } = oauth;
  if (grant !== "id_jag") {
    if (identity === undefined) return undefined;
    const message = "is needed with oauth.identity";
    return { field: "oauth.grant", value: grant, message, fix: "Write grant: id_jag, or remove identity." };
  }
  const missing = (["clientId", "issuer", "identity"] as const).find((name) => oauth[name] === undefined);
  if (missing !== undefined) {
    const field = `oauth.${missing === "clientId" ? "client_id" : missing}`;
    const fix = "Write client_id and issuer of the server's authorization server, and identity.";
    return { field, message: "is missing, but oauth.grant id_jag requires it", fix };
  }
  if (account === "user_or_gateway") {
    const message = "cannot be user_or_gateway if oauth.grant is id_jag";
    return { field: "oauth.account", value: account, message, fix: "Write user or gateway." };
  }
  const isOwn = isPerCaller(identity?.token ?? "");
  if (isOwn === (account === "user")) return undefined;
  const message = isOwn
    ? "depends on the caller, but oauth.account is gateway"
    : "is one token for all callers, but oauth.account is user";
  const fix = isOwn
    ? "Write account: user, or a reference without {principal}."
    : "Write a reference with {principal}, such as file:/run/identity/{principal}, or account: gateway.";
  return { field: "oauth.identity.token", message, fix };
}
